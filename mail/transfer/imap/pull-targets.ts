import { acceptedFolder } from '../folder-names.ts';
import { placeLabels } from '../gmail-labels.ts';
import type { Importer } from '../importer.ts';
import type { RemoteFolder } from './remote-folders.ts';
import type { RemoteFacts } from './remote-pages.ts';

/** A mailbox here. */
export interface PullTarget {
  id: number;
  name: string;
}

/** Finds the mailboxes here that messages of a pull go into, and creates those that are missing. */
export class PullTargets {
  readonly #importer: Importer;
  readonly #below: string | undefined;
  readonly #found = new Map<string, PullTarget | undefined>();

  /** `below`: folder here that all folders are pulled below; undefined: none. */
  constructor(importer: Importer, below: string | undefined) {
    this.#importer = importer;
    this.#below = below;
  }

  /** The mailbox for a message; undefined: there are too many. Labels of Gmail decide for all mail. */
  of(folder: RemoteFolder, { labels }: RemoteFacts): Promise<PullTarget | undefined> {
    if (!folder.isAllMail || labels === undefined) return this.byName(folder.name, folder.role);
    const place = placeLabels(labels);
    return this.byName(place.folder, place.role);
  }

  /** The mailbox with a special use or a name; undefined: there are too many. */
  async byName(name: string, role: RemoteFolder['role']): Promise<PullTarget | undefined> {
    const key = `${role ?? ''}/${name}`;
    if (this.#found.get(key) === undefined) {
      const full = this.#below === undefined ? name : acceptedFolder(`${this.#below}/${name}`);
      this.#found.set(key, await this.#importer.folder(full, this.#below === undefined ? role : undefined));
    }
    return this.#found.get(key);
  }
}
