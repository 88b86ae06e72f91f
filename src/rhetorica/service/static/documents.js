// Documents kept in this browser (IndexedDB): several, with their history, over a reload.

const STEPS = 50;

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

function connect() {
  const request = indexedDB.open("rhetorica", 1);
  request.onupgradeneeded = () => {
    // What the list shows is apart from what can be large.
    request.result.createObjectStore("about", { keyPath: "id" });
    request.result.createObjectStore("content", { keyPath: "id" });
  };
  return done(request);
}

/**
 * A document is { id, name, parse, past, future, added, isRenamed }: `past` and `future` are the
 * parses that undo and redo bring back, `added` the relations that someone added on purpose.
 */
export const newDocument = (name, parse) => ({
  id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`,
  name, parse, past: [], future: [], added: [], isRenamed: false,
});

export class Documents {
  static async open() {
    try {
      return new Documents(await connect());
    } catch {
      return new Documents(null);  // a private window, perhaps: nothing is kept
    }
  }

  constructor(database) {
    this.database = database;
  }

  #stores(mode) {
    const transaction = this.database.transaction(["about", "content"], mode);
    return ["about", "content"].map((name) => transaction.objectStore(name));
  }

  /** What there is, what was changed last first: id, name, units, changed (a time). */
  async list() {
    if (!this.database) return [];
    const [about] = this.#stores("readonly");
    return (await done(about.getAll())).sort((a, b) => b.changed - a.changed);
  }

  async load(id) {
    if (!this.database) return null;
    const [about, content] = this.#stores("readonly");
    const [own, rest] = await Promise.all([done(about.get(id)), done(content.get(id))]);
    return own && rest ? { ...rest, name: own.name, stamp: own.stamp } : null;
  }

  /**
   * Keep a document as it is now; false where that is not possible. If another window has changed
   * it in the meantime, both stay: this one becomes a document of its own.
   */
  async keep(document) {
    if (!this.database) return false;
    try {
      const [about, content] = this.#stores("readwrite");
      const known = await done(about.get(document.id));
      if (known && known.stamp !== document.stamp) {
        document.id = newDocument().id;
        document.name += " (this window)";
      }
      document.stamp = `${Date.now()}-${Math.random()}`;
      const { id, name, stamp, ...rest } = document;
      await Promise.all([
        done(about.put({ id, name, stamp, units: rest.parse.document.edus.length, changed: Date.now() })),
        done(content.put({ id, ...rest, past: rest.past.slice(-STEPS), future: rest.future.slice(-STEPS) })),
      ]);
      return true;
    } catch {
      return false;  // no room, most likely
    }
  }

  async remove(id) {
    if (!this.database) return;
    const stores = this.#stores("readwrite");
    await Promise.all(stores.map((store) => done(store.delete(id))));
  }
}

/** A small thing to remember (null: forget it); a private window may refuse. */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch { /* not kept, then */ }
}

export function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
