import type { S3Request } from '../store/bucket/s3-signature.ts';
import { receiveBody, S3Client, S3Failure, type S3Options } from '../store/bucket/s3-client.ts';
import { listObjects } from '../store/bucket/s3-listing.ts';
import { BackupProblem } from './backup-error.ts';
import type { BackupTarget, StoredObject } from './backup-target.ts';

/** A pack has 8 MiB; the map of a large snapshot may have more. */
const MAX_ANSWER = 1024 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** Backups in a bucket of any service with the S3 protocol. */
export class S3Target implements BackupTarget {
  readonly label: string;
  readonly #client: S3Client;

  constructor(options: S3Options) {
    this.#client = new S3Client(options);
    this.label = this.#client.label;
  }

  async put(name: string, octets: Buffer): Promise<void> {
    await this.#request('PUT', name, octets);
  }

  async get(name: string): Promise<Buffer | undefined> {
    return this.#request('GET', name);
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    try {
      for await (const page of listObjects(this.#client, prefix)) {
        found.push(...page.map(({ name, size }) => ({ name, size })));
      }
    } catch (error) {
      throw this.#problem(error);
    }
    return found;
  }

  async remove(name: string): Promise<void> {
    await this.#request('DELETE', name);
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #request(method: S3Request['method'], name: string, body: Buffer = NOTHING): Promise<Buffer | undefined> {
    try {
      return (await this.#client.send(method, this.#client.url(name), body, receiveBody(MAX_ANSWER)))?.value;
    } catch (error) {
      throw this.#problem(error);
    }
  }

  #problem(error: unknown): unknown {
    if (!(error instanceof S3Failure)) return error;
    return error.kind === 'refused'
      ? new BackupProblem(
          `${this.label} refused the request: ${error.message}. Check the bucket, MAILSTEAD_BACKUP_S3_ACCESS_KEY and its permissions to list, get, put and delete.`,
        )
      : new BackupProblem(
          `${this.label} ${error.message}. Check MAILSTEAD_BACKUP_S3_ENDPOINT and the service, then run the backup again.`,
        );
  }
}
