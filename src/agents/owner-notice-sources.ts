import { catalogueSha256, changeOf, pinnedTools, type CatalogueChange, type Digests } from '../core/catalogue-pin.ts';
import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { Log } from '../../mail/log.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { composeAuditHead, composeToolsChanged } from './owner-notices.ts';
import { noteCatalogue, notifyAuditHead, notifyToolsChanged } from './pin-commands.ts';
import { type AuditHead, auditHeads, catalogueNews, notedCatalogue } from './pin-queries.ts';

const DAY_MS = 86_400_000;
const EVERY_MS = 10 * 60_000;
/** Delay after the start. */
const FIRST_MS = 5_000;
const PAGE = 20;

interface ToolsChange {
  organization: number;
  change: string;
}

export type ToolsChangedContext = NoticeContext & {
  log: Log;
  /** Owners are notified; else a change is only logged. */
  live: boolean;
  /** The tools of this version. */
  tools?: Digests;
};

/** Notifies owners when the tools of their agents are not those of the last start: an update, or tampering. */
export function toolsChanged(
  context: ToolsChangedContext,
): NoticeSource<ToolsChange, { notices: readonly SystemNotice<'tools-changed'>[] }> {
  const { store, live, tools = pinnedTools() } = context;
  const sha256 = catalogueSha256(tools);
  return {
    kind: 'tools-changed',
    everyMs: EVERY_MS,
    firstMs: FIRST_MS,
    event: { level: 'info', message: 'owners notified of changed tools' },
    async *due() {
      await compareTools(context, tools);
      if (live) yield* pages((after) => store.read(catalogueNews, { after, limit: PAGE }));
    },
    async compose({ organization, change }) {
      const about = { change: JSON.parse(change) as CatalogueChange, sha256 };
      return { notices: await composeToolsChanged(context, organization, about) };
    },
    async mark({ organization, change }, { notices }) {
      const { notified } = await store.write(notifyToolsChanged, { organization, change, notices });
      return notified ? { organization } : undefined;
    },
  };
}

async function compareTools({ store, log, live }: ToolsChangedContext, digests: Digests): Promise<void> {
  const tools = JSON.stringify(digests);
  const before = await store.read(notedCatalogue, undefined);
  if (before === tools) return;
  const change = before === undefined ? undefined : changeOf(JSON.parse(before) as Digests, digests);
  const news = change === undefined || !live ? null : JSON.stringify(change);
  const { kind } = await store.write(noteCatalogue, { before: before ?? null, tools, change: news });
  if (kind === 'noted' && change !== undefined) {
    log.warn({ ...change, sha256: catalogueSha256(digests) }, 'the tools for agents changed since the last start');
  }
}

/** Sends owners the newest hash of the audit log, at most once a day, where the daily digest does not carry it. */
export function auditHeadNotices(
  context: NoticeContext,
): NoticeSource<AuditHead, { notices: readonly SystemNotice<'audit-head'>[] }> {
  const { store, clock } = context;
  return {
    kind: 'audit-head',
    everyMs: EVERY_MS,
    firstMs: FIRST_MS,
    event: { level: 'info', message: 'owners notified of the end of the audit log' },
    due: () => pages((after) => store.scan(auditHeads, { before: clock() - DAY_MS, after, limit: PAGE, now: clock() })),
    async compose(head) {
      return { notices: await composeAuditHead(context, head) };
    },
    async mark({ organization, audit }, { notices }) {
      const { notified } = await store.write(notifyAuditHead, { organization, audit, notices });
      return notified ? { organization } : undefined;
    },
  };
}

/** Reads rows by the id of their organization, page after page. */
async function* pages<Row extends { organization: number }>(read: (after: number) => Promise<readonly Row[]>) {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page: readonly Row[] = await read(after);
    yield* page;
    after = page.at(-1)?.organization;
  }
}
