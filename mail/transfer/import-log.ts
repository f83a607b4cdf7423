/** Counts of an import. */
export interface ImportProgress {
  imported: number;
  /** Messages that a former import or pass brought. */
  known: number;
  skipped: number;
  bytes: number;
  /** Messages of the source, as far as known; null: not counted. */
  total: number | null;
  /** Folder that is being read. */
  folder: string | null;
}

/** Result of an import. */
export interface ImportReport {
  folders: { folder: string; imported: number; known: number }[];
  /** Messages and files that were not imported, or not all of them, by name. */
  problems: { place: string; problem: string }[];
  /** Problems beyond those that are listed. */
  moreProblems: number;
}

/** Problems and folders that a report lists. */
const MAX_LISTED = 200;

/** Collects what became of the messages of an import. */
export class ImportLog {
  readonly progress: ImportProgress = { imported: 0, known: 0, skipped: 0, bytes: 0, total: null, folder: null };
  readonly #folders = new Map<string, { folder: string; imported: number; known: number }>();
  readonly #problems: { place: string; problem: string }[] = [];
  #moreProblems = 0;
  readonly #onFirst: () => void;

  /** `onFirst`: called when the first message is imported. */
  constructor(onFirst: () => void = () => undefined) {
    this.#onFirst = onFirst;
  }

  imported(folder: string, size: number): void {
    this.progress.imported++;
    this.progress.bytes += size;
    this.#folder(folder).imported++;
    if (this.progress.imported === 1) this.#onFirst();
  }

  known(folder: string): void {
    this.progress.known++;
    this.#folder(folder).known++;
  }

  skip(place: string, problem: string): void {
    this.progress.skipped++;
    this.#list(place, problem);
  }

  /** Lists what was left out of a message that was imported. */
  note(place: string, problem: string): void {
    this.#list(place, problem);
  }

  get report(): ImportReport {
    return {
      folders: [...this.#folders.values()].slice(0, 2_000),
      problems: this.#problems,
      moreProblems: this.#moreProblems,
    };
  }

  #list(place: string, problem: string): void {
    if (this.#problems.length < MAX_LISTED) this.#problems.push({ place: place.slice(0, 300), problem });
    else this.#moreProblems++;
  }

  #folder(folder: string): { folder: string; imported: number; known: number } {
    this.progress.folder = folder;
    let one = this.#folders.get(folder);
    if (one === undefined) this.#folders.set(folder, (one = { folder, imported: 0, known: 0 }));
    return one;
  }
}
