import type { Log } from '../../mail/log.ts';
import { Rounds } from '../letters/rounds.ts';
import { type CatalogueChange, catalogueSha256, changeOf, type Digests, pinnedTools } from '../mcp/catalogue-pin.ts';
import { auditLetters, catalogueLetters, type OwnerPost } from './owner-letters.ts';
import { noteCatalogue, tellAuditHead, tellCatalogue } from './pin-commands.ts';
import { auditHeads, catalogueNews, notedCatalogue } from './pin-queries.ts';

const DAY_MS = 86_400_000;
const EVERY_MS = 10 * 60_000;
/** The first round waits until the start is over. */
const FIRST_MS = 5_000;
const TOGETHER = 20;

export type OwnerHeraldOptions = OwnerPost & {
  /** A letter was queued. */
  queued: () => void;
  log: Log;
  /** Letters go to owners; else a change is only logged. */
  live: boolean;
  /** The tools of this version. */
  tools?: Digests;
};

/** Tells owners what they should know of their agents without asking: other tools, and each day how the log ended. */
export class OwnerHerald implements AsyncDisposable {
  readonly #options: OwnerHeraldOptions;
  readonly #tools: Digests;
  readonly #rounds: Rounds;

  constructor(options: OwnerHeraldOptions) {
    const failed = 'owners could not be told of their agents, it is tried again';
    const { log, tools = pinnedTools() } = options;
    this.#options = options;
    this.#tools = tools;
    this.#rounds = new Rounds({ round: () => this.run(), everyMs: EVERY_MS, firstMs: FIRST_MS, failed, log });
  }

  /** One whole round now. */
  async run(): Promise<void> {
    await this.#compare();
    if (!this.#options.live) return;
    await this.#tellOfTools();
    await this.#tellOfLogs();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rounds[Symbol.asyncDispose]();
  }

  /** Against the last start: what changed was an update, or somebody's doing. */
  async #compare(): Promise<void> {
    const { store, log, live } = this.#options;
    const tools = JSON.stringify(this.#tools);
    const before = await store.read(notedCatalogue, undefined);
    if (before === tools) return;
    const change = before === undefined ? undefined : changeOf(JSON.parse(before) as Digests, this.#tools);
    const told = change === undefined || !live ? null : JSON.stringify(change);
    const { kind } = await store.write(noteCatalogue, { before: before ?? null, tools, change: told });
    if (kind === 'noted' && change !== undefined) {
      log.warn(
        { ...change, sha256: catalogueSha256(this.#tools) },
        'the tools for agents changed since the last start',
      );
    }
  }

  async #tellOfTools(): Promise<void> {
    const { store, queued } = this.#options;
    const sha256 = catalogueSha256(this.#tools);
    for (let more = true; more && !this.#rounds.closing;) {
      const news = await store.read(catalogueNews, { limit: TOGETHER });
      for (const { organization, change } of news) {
        const letters = await catalogueLetters(this.#options, organization, {
          change: JSON.parse(change) as CatalogueChange,
          sha256,
        });
        const { told } = await store.write(tellCatalogue, { organization, change, letters });
        if (told && letters.length > 0) queued();
      }
      more = news.length === TOGETHER;
    }
  }

  async #tellOfLogs(): Promise<void> {
    const { store, clock, queued } = this.#options;
    for (let more = true; more && !this.#rounds.closing;) {
      const heads = await store.scan(auditHeads, { before: clock() - DAY_MS, limit: TOGETHER, now: clock() });
      for (const head of heads) {
        const { organization, audit } = head;
        const letters = await auditLetters(this.#options, head);
        const { told } = await store.write(tellAuditHead, { organization, audit, letters });
        if (told && letters.length > 0) queued();
      }
      more = heads.length === TOGETHER;
    }
  }
}
