import type { Readable } from 'node:stream';

interface UploadBody {
  octets: Readable;
  ended: Promise<unknown>;
}

/**
 * Receives one body of an upload at a time. A client that lost its connection sends its part again while the server still waits
 * for the rest of the lost one, whose octets must not be appended to the new ones: a new body ends the one before.
 */
export class UploadsInProgress {
  readonly #bodies = new Map<number, UploadBody>();

  async alone<T>(id: number, octets: Readable, receive: (octets: Readable) => Promise<T>): Promise<T> {
    const before = this.#bodies.get(id);
    const work = afterEnd(before, () => receive(octets));
    const mine = { octets, ended: work.catch(() => undefined) };
    this.#bodies.set(id, mine);
    try {
      return await work;
    } finally {
      if (this.#bodies.get(id) === mine) this.#bodies.delete(id);
    }
  }
}

async function afterEnd<T>(before: UploadBody | undefined, receive: () => Promise<T>): Promise<T> {
  before?.octets.destroy();
  await before?.ended;
  return receive();
}
