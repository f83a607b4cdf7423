import { mailboxTree } from '../../../store/mailbox-tree.ts';
import { MAIL } from '../../capabilities.ts';
import { object } from '../../arguments.ts';
import { jmapId } from '../../ids.ts';
import { mailboxQueryShape, runMailboxQuery } from '../../mailbox/query.ts';
import type { Method } from '../../method.ts';
import { answerWindow, WINDOW } from '../../query-window.ts';
import { formatState } from '../../state.ts';

/** Mailbox/query. RFC 8621 2.3. */
export const mailboxQuery: Method = {
  name: 'Mailbox/query',
  capability: MAIL,
  async run(call, args) {
    const asked = object({ ...mailboxQueryShape(call, args), ...WINDOW })(args, '');
    const { state, nodes } = await call.desk.store.read(mailboxTree, { account: asked.accountId.account, ids: null });
    const all = runMailboxQuery(asked, nodes).map((node) => jmapId('mailbox', node.id));
    return {
      accountId: args['accountId'],
      queryState: formatState(state),
      canCalculateChanges: true,
      ...answerWindow(asked, all),
    };
  },
};
