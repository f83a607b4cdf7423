import { readAccess } from '../../access.ts';
import { anything, bool, object, optional } from '../../arguments.ts';
import { MAIL } from '../../capabilities.ts';
import { MethodError } from '../../errors.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import type { Method } from '../../method.ts';
import { emailResults } from '../../query/email-results.ts';
import { readFilter } from '../../query/read-filter.ts';
import { runQuery } from '../../query/run-query.ts';
import { readSort } from '../../query/sort.ts';
import { limitOf } from '../../query/window.ts';
import { WINDOW } from '../../query-window.ts';
import { formatState } from '../../state.ts';

/** Email/query. RFC 8620 5.5, 8621 4.4. */
export const emailQuery: Method = {
  name: 'Email/query',
  capability: MAIL,
  async run(call, args) {
    const access = readAccess(call, args['accountId']);
    const shape = { accountId: anything, filter: anything, sort: anything, collapseThreads: optional(bool, false) };
    const read = object({ ...shape, ...WINDOW })(args, '');
    const { account } = access;
    const { collapseThreads, position, anchorOffset, calculateTotal } = read;
    const asked = {
      account,
      blobs: call.desk.store.files.directory,
      filter: readFilter(call, access, read.filter),
      order: readSort(read.sort),
      collapseThreads,
    };
    const { limit, ours } = limitOf(read.limit);
    const anchor = read.anchor === null ? null : (jmapRow('email', account, read.anchor) ?? 0);
    const window = { position, anchorOffset, calculateTotal, limit, anchor };
    const found = await runQuery(call.desk, emailResults, { ...asked, ...window });
    if (found.kind === 'no-anchor') {
      throw new MethodError('anchorNotFound', `The results do not have ${read.anchor ?? ''}: query without an anchor.`);
    }
    return {
      accountId: args['accountId'],
      queryState: formatState(found.state),
      canCalculateChanges: true,
      position: found.position,
      ids: found.ids.map((row) => jmapId('email', row)),
      ...(found.total !== null && { total: found.total }),
      ...(ours && { limit }),
    };
  },
};
