import { MAIL } from '../../capabilities.ts';
import { bool, optional } from '../../arguments.ts';
import { realId } from '../../created.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import { childrenFirst, parentsFirst, rolesGivenUpFirst } from '../../mailbox/order.ts';
import { mailboxSetter } from '../../mailbox/setter.ts';
import type { Method } from '../../method.ts';
import { refusing } from '../../set-refusal.ts';
import { readSet, runSet } from '../../standard-set.ts';
import { StateTrack } from '../../state-track.ts';
import { mailboxTree } from '../../../store/mailbox-tree.ts';

/** Mailbox/set. RFC 8621 2.5. */
export const mailboxSet: Method = {
  name: 'Mailbox/set',
  capability: MAIL,
  async run(call, args) {
    const set = readSet(call, args, { onDestroyRemoveEmails: optional(bool, false) });
    const { account } = set.access;
    const track = await StateTrack.begin(call.desk.store, account, set.ifInState, 'Mailbox');
    const { nodes } = await call.desk.store.read(mailboxTree, { account, ids: null });
    const parents = new Map(nodes.map((node) => [node.id, node.parent]));
    const parentOf = (id: string): string | undefined => {
      const row = jmapRow('mailbox', account, realId(call, id) ?? '');
      const parent = row === undefined ? undefined : parents.get(row);
      return parent === undefined || parent === 0 ? undefined : jmapId('mailbox', parent);
    };
    const ordered = {
      ...set,
      create: parentsFirst(set.create),
      update: rolesGivenUpFirst(set.update),
      destroy: childrenFirst(set.destroy, parentOf),
    };
    const setter = mailboxSetter(call, set.access, track, set.onDestroyRemoveEmails);
    return { ...(await runSet(call, ordered, refusing(setter, call.desk.log))), ...track.states };
  },
};
