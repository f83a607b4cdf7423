import { readAccess } from '../../access.ts';
import { anything, bool, id, nullable, object, optional, text, unsigned } from '../../arguments.ts';
import { MAIL } from '../../capabilities.ts';
import { MethodError } from '../../errors.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import { MOST_IN_QUERY } from '../../limits.ts';
import type { Method } from '../../method.ts';
import { emailResultChanges } from '../../query/email-result-changes.ts';
import { readFilter } from '../../query/read-filter.ts';
import { runQuery } from '../../query/run-query.ts';
import { readSort } from '../../query/sort.ts';
import { cannotCalculate } from '../../standard-changes.ts';
import { formatState, readState } from '../../state.ts';

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
export const emailQueryChanges: Method = {
  name: 'Email/queryChanges',
  capability: MAIL,
  async run(call, args) {
    const access = readAccess(call, args['accountId']);
    const { account } = access;
    const read = object(SHAPE)(args, '');
    const since = readState(read.sinceQueryState);
    if (read.maxChanges === 0) throw new MethodError('invalidArguments', '"maxChanges" must be greater than 0.');
    const asked = {
      account,
      blobs: call.desk.store.files.directory,
      filter: readFilter(call, access, read.filter),
      order: readSort(read.sort),
      collapseThreads: read.collapseThreads,
      calculateTotal: read.calculateTotal,
      maxChanges: Math.min(read.maxChanges ?? MOST_IN_QUERY, MOST_IN_QUERY),
      upTo: read.upToId === null ? null : (jmapRow('email', account, read.upToId) ?? 0),
    };
    if (since === undefined || since.row !== Number.POSITIVE_INFINITY) throw cannotCalculate('is none of a query here');
    const found = await runQuery(call.desk, emailResultChanges, { ...asked, since: since.modseq });
    if (found.kind === 'unknown-state') throw cannotCalculate('is too old or none of this server');
    if (found.kind === 'too-many') {
      throw new MethodError('tooManyChanges', 'More changed than "maxChanges" allows: query again.');
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
