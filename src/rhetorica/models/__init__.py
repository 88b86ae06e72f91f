"""The trained models that ship with the package, each a folder with a card; `store` reads them."""
