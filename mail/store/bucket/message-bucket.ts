import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { receiveBody, type S3Client } from './s3-client.ts';
import { listObjects } from './s3-listing.ts';
import { ObjectUnreadable, openSealed, SEAL_OCTETS, sealFile } from './sealed-object.ts';

const NOTHING = Buffer.alloc(0);
const OWNER = 'owner';
const MAX_OWNER = 256;

/** Large messages in a bucket, each an encrypted object. Throws S3Failure where the service fails. */
export class MessageBucket {
  readonly #client: S3Client;
  readonly #key: Uint8Array;

  constructor(client: S3Client, key: Uint8Array) {
    this.#client = client;
    this.#key = key;
  }

  get label(): string {
    return this.#client.label;
  }

  /** Stores a file. Resolves when the service has answered that it is stored. */
  async put(file: string, path: string, size: number): Promise<void> {
    const body = await sealFile(path, file, size, this.#key);
    await this.#client.send('PUT', this.#url(file), body, receiveBody(MAX_OWNER));
  }

  /** Fetches a message to a path, which has all of it or does not exist. False: there is no such object. */
  async download(file: string, path: string): Promise<boolean> {
    const answer = await this.#client.send('GET', this.#url(file), NOTHING, async (response) => {
      const draft = `${path}.${randomBytes(4).toString('hex')}.tmp`;
      try {
        return await this.#receive(response as AsyncIterable<Buffer>, file, draft, path);
      } finally {
        await rm(draft, { force: true });
      }
    });
    if (answer === undefined) return false;
    if (answer.value !== undefined) throw answer.value;
    return true;
  }

  /** Octets of a message; undefined: there is no such object. */
  async size(file: string): Promise<number | undefined> {
    const answer = await this.#client.send('HEAD', this.#url(file), NOTHING, async (response) => {
      response.resume();
      return Promise.resolve(Number(response.headers['content-length']) - SEAL_OCTETS);
    });
    return answer?.value;
  }

  async remove(file: string): Promise<void> {
    await this.#client.send('DELETE', this.#url(file), NOTHING, receiveBody(MAX_OWNER));
  }

  /** Names of the messages, page by page, with the time of their upload, ms UTC. */
  async *list(): AsyncGenerator<{ file: string; at: number }[]> {
    for await (const page of listObjects(this.#client, 'messages/')) {
      yield page.flatMap(({ name, at }) => {
        const [, file] = /^messages\/[0-9a-f]{2}\/([0-9a-f]{32})$/.exec(name) ?? [];
        return file === undefined ? [] : [{ file, at }];
      });
    }
  }

  /** Id of the data directory that the prefix belongs to; undefined: none. */
  async owner(): Promise<string | undefined> {
    const answer = await this.#client.send('GET', this.#client.url(OWNER), NOTHING, receiveBody(MAX_OWNER));
    return answer?.value.toString().trim();
  }

  async setOwner(id: string): Promise<void> {
    await this.#client.send('PUT', this.#client.url(OWNER), Buffer.from(`${id}\n`), receiveBody(MAX_OWNER));
  }

  #url(file: string): URL {
    return this.#client.url(`messages/${file.slice(0, 2)}/${file}`);
  }

  /** Returns the reason instead of throwing it, as a damaged object is the same at the next attempt. */
  async #receive(
    source: AsyncIterable<Buffer>,
    file: string,
    draft: string,
    path: string,
  ): Promise<ObjectUnreadable | undefined> {
    try {
      await using handle = await open(draft, 'wx', 0o600);
      await openSealed(source, file, this.#key, handle);
    } catch (error) {
      if (error instanceof ObjectUnreadable) return error;
      throw error;
    }
    await rename(draft, path);
    return undefined;
  }
}
