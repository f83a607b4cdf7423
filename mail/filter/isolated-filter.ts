import type { FilterResponse, FilterRequest } from './thread-messages.ts';

/** A filter that processes one request at a time. */
interface SerialFilter extends AsyncDisposable {
  request(request: FilterRequest): Promise<FilterResponse>;
}

/** Filters messages one at a time after one of them ended a thread. Its own thread exists only while it has messages. */
export class IsolatedFilter implements AsyncDisposable {
  readonly #open: () => SerialFilter;
  #filter: SerialFilter | undefined;
  #pending = 0;
  /** Disposal of the threads: the database is closed only after it. */
  #disposal: Promise<unknown> = Promise.resolve();

  constructor(open: () => SerialFilter) {
    this.#open = open;
  }

  async request(request: FilterRequest): Promise<FilterResponse> {
    this.#filter ??= this.#open();
    this.#pending++;
    try {
      return await this.#filter.request(request);
    } finally {
      if (--this.#pending === 0) void this[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const filter = this.#filter;
    this.#filter = undefined;
    this.#disposal = Promise.all([this.#disposal, filter?.[Symbol.asyncDispose]()]);
    await this.#disposal;
  }
}
