import { sharedEmailState } from '../../store/mailbox/shared-account.ts';
import { readAccess } from '../core/access.ts';
import { anything, bool, id, nullable, object, optional, text, unsigned } from '../core/arguments.ts';
import { MAIL, MAX_IN_QUERY } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { readerScope, sharedPart } from '../core/shared-accounts.ts';
import { WINDOW } from '../standard/object-query.ts';
import { cannotCalculate, formatState, readState } from '../standard/standard-changes.ts';
import { emailResultChanges } from './email-result-changes.ts';
import { effectiveLimit, emailResults } from './email-results.ts';
import { conditionsOf, type EmailFilter } from './email-filter.ts';
import { type EmailOrder, readSort } from './email-sort.ts';
import { readFilter } from './filter-arguments.ts';
import { runQuery } from './query-runner.ts';

/** Email/query. RFC 8620 5.5, 8621 4.4. */
export const emailQuery: JmapMethod = {
  name: 'Email/query',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const access = readAccess(call, args['accountId']);
    const shape = { accountId: anything, filter: anything, sort: anything, collapseThreads: optional(bool, false) };
    const read = object({ ...shape, ...WINDOW })(args, '');
    const { account } = access;
    const shared = sharedPart(call, account);
    const { collapseThreads, position, anchorOffset, calculateTotal } = read;
    const request = {
      account,
      blobs: call.context.store.files.directory,
      within: readerScope(call, account),
      filter: readFilter(call, access, read.filter),
      order: readSort(read.sort),
      collapseThreads,
    };
    const { limit, ours } = effectiveLimit(read.limit);
    const anchor = read.anchor === null ? null : (jmapRow('email', account, read.anchor) ?? 0);
    const window = { position, anchorOffset, calculateTotal, limit, anchor };
    const found = await runQuery(call.context, emailResults, { ...request, ...window });
    await noteLabels(call, request);
    if (found.kind === 'no-anchor') {
      throw new MethodError(
        'anchorNotFound',
        `The results do not contain ${read.anchor ?? ''}. Query without an anchor.`,
      );
    }
    return {
      accountId: args['accountId'],
      queryState: shared === undefined ? formatState(found.state) : sharedEmailState(shared),
      canCalculateChanges: shared === undefined,
      position: found.position,
      ids: found.ids.map((row) => jmapId('email', row)),
      ...(found.total !== null && { total: found.total }),
      ...(ours && { limit }),
    };
  },
};

const SHAPE = {
  accountId: anything,
  filter: anything,
  sort: anything,
  collapseThreads: optional(bool, false),
  sinceQueryState: text,
  maxChanges: nullable(unsigned),
  upToId: nullable(id),
  calculateTotal: optional(bool, false),
};

/** Email/queryChanges. RFC 8620 5.6, 8621 4.5. */
export const emailQueryChanges: JmapMethod = {
  name: 'Email/queryChanges',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const access = readAccess(call, args['accountId']);
    const { account } = access;
    const read = object(SHAPE)(args, '');
    // The changes of a whole account would tell of mailboxes that are not shared. RFC 8620 5.6.
    if (sharedPart(call, account) !== undefined) throw cannotCalculate('is that of a shared account');
    const since = readState(read.sinceQueryState);
    if (read.maxChanges === 0) throw new MethodError('invalidArguments', '"maxChanges" must be greater than 0.');
    const request = {
      account,
      blobs: call.context.store.files.directory,
      filter: readFilter(call, access, read.filter),
      order: readSort(read.sort),
      collapseThreads: read.collapseThreads,
      calculateTotal: read.calculateTotal,
      maxChanges: Math.min(read.maxChanges ?? MAX_IN_QUERY, MAX_IN_QUERY),
      upTo: read.upToId === null ? null : (jmapRow('email', account, read.upToId) ?? 0),
    };
    if (since === undefined || since.row !== Number.POSITIVE_INFINITY)
      throw cannotCalculate('was not issued by a query of this server');
    const found = await runQuery(call.context, emailResultChanges, { ...request, since: since.modseq });
    await noteLabels(call, request);
    if (found.kind === 'unknown-state') throw cannotCalculate('is too old or was not issued by this server');
    if (found.kind === 'too-many') {
      throw new MethodError('tooManyChanges', 'More changes than "maxChanges" allows. Run the query again.');
    }
    return {
      accountId: args['accountId'],
      oldQueryState: read.sinceQueryState,
      newQueryState: formatState(found.state),
      ...(found.total !== null && { total: found.total }),
      removed: found.removed.map((row) => jmapId('email', row)),
      added: found.added.map(({ id: row, index }) => ({ id: jmapId('email', row), index })),
    };
  },
};

/** Records that results by keywords are shown: one agent can pass words of a stranger to another by them. */
async function noteLabels(
  { session }: MethodCall,
  { account, filter, order }: { account: number; filter: EmailFilter; order: EmailOrder },
): Promise<void> {
  const usesKeywords = conditionsOf(filter).some((one) => 'keyword' in one) || order.some((one) => 'keyword' in one);
  if (usesKeywords) await session.onWords?.({ account, kinds: ['labels'], written: false });
}
