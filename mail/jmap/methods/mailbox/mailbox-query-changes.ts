import { mailboxChanges, mailboxTree } from '../../../store/mailbox-tree.ts';
import { MAIL } from '../../capabilities.ts';
import { bool, id, nullable, object, optional, text, unsigned } from '../../arguments.ts';
import { MethodError } from '../../errors.ts';
import { jmapId } from '../../ids.ts';
import { mailboxQueryShape, runMailboxQuery, withDescendants } from '../../mailbox/query.ts';
import type { Method } from '../../method.ts';
import { cannotCalculate } from '../../standard-changes.ts';
import { formatState, readState } from '../../state.ts';

/** More changes than this are not worth telling one by one. */
const MOST = 5_000;

/**
 * Mailbox/queryChanges. RFC 8621 2.4. Filter and sort may change with each rename, so `upToId` counts for nothing
 * (RFC 8620 5.6), and whatever changed is named as removed and, where it is now, as added.
 */
export const mailboxQueryChanges: Method = {
  name: 'Mailbox/queryChanges',
  capability: MAIL,
  async run(call, args) {
    const asked = object({
      ...mailboxQueryShape(call, args),
      sinceQueryState: text,
      maxChanges: nullable(unsigned),
      upToId: nullable(id),
      calculateTotal: optional(bool, false),
    })(args, '');
    const since = readState(asked.sinceQueryState);
    if (since === undefined || Number.isFinite(since.row)) throw cannotCalculate('is none of a query');
    const { account } = asked.accountId;
    const { store } = call.desk;
    const { state, nodes } = await store.read(mailboxTree, { account, ids: null });
    const { changes } = await store.read(mailboxChanges, { account, ...since, limit: MOST });
    if (since.modseq > state) throw cannotCalculate('is none that this account had');
    if (changes.length === MOST) throw cannotCalculate('is too old');
    const real = changes.filter((one) => one.modseq > since.modseq);
    const moved = withDescendants(new Set(real.map((one) => one.id)), nodes);
    const result = runMailboxQuery(asked, nodes);
    const added = result.flatMap((node, index) =>
      moved.has(node.id) ? [{ id: jmapId('mailbox', node.id), index }] : [],
    );
    const old = new Set([...real.filter((one) => one.createdModseq <= since.modseq).map((one) => one.id), ...moved]);
    const removed = [...old].map((one) => jmapId('mailbox', one));
    if (asked.maxChanges !== null && removed.length + added.length > asked.maxChanges) {
      throw new MethodError('tooManyChanges', 'There are more changes than "maxChanges": query again.');
    }
    return {
      accountId: args['accountId'],
      oldQueryState: asked.sinceQueryState,
      newQueryState: formatState(state),
      ...(asked.calculateTotal && { total: result.length }),
      removed,
      added,
    };
  },
};
