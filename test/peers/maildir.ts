import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { numberOf } from './numbered-mail.ts';

/** A folder in Maildir format, as synchronizing programs keep it. */
export class Maildir {
  readonly path: string;
  #added = 0;

  constructor(path: string) {
    this.path = path;
  }

  async create(): Promise<void> {
    for (const part of ['cur', 'new', 'tmp']) await mkdir(join(this.path, part), { recursive: true });
  }

  /** Paths of all messages; none before the folder exists. */
  async files(): Promise<string[]> {
    const list = async (part: string): Promise<string[]> => {
      const names = await readdir(join(this.path, part)).catch(() => []);
      return names.map((name) => join(this.path, part, name));
    };
    return [...(await list('cur')), ...(await list('new'))];
  }

  /** Path and flags of each numbered message, and how many files there are. */
  async numbered(): Promise<{ paths: Map<number, string>; flags: Map<number, string>; messages: number }> {
    const paths = new Map<number, string>();
    const flags = new Map<number, string>();
    const files = await this.files();
    for (const path of files) {
      const number = numberOf(await readFile(path, 'latin1'));
      paths.set(number, path);
      flags.set(number, /:2,(\w*)$/.exec(path)?.[1] ?? '');
    }
    return { paths, flags, messages: files.length };
  }

  async add(message: string, flags = ''): Promise<void> {
    this.#added += 1;
    const name = `${1_700_000_000 + this.#added}.M${this.#added}P${process.pid}.client:2,${flags}`;
    await writeFile(join(this.path, 'cur', name), message);
  }

  async flag(path: string, flags: string): Promise<void> {
    const name = (path.split('/').at(-1) ?? '').replace(/:2,.*$/, '');
    await rename(path, join(this.path, 'cur', `${name}:2,${flags}`));
  }

  async remove(path: string): Promise<void> {
    await rm(path);
  }
}
