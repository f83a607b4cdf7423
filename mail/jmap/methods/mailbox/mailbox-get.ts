import { MAIL } from '../../capabilities.ts';
import { jmapRow } from '../../ids.ts';
import { mailboxObject, MAILBOX_PROPERTIES } from '../../mailbox/shape.ts';
import { countedTree } from '../../mailbox/tree.ts';
import type { Method } from '../../method.ts';
import { answerGet, pick, readGet } from '../../standard-get.ts';
import { formatState } from '../../state.ts';

/** Mailbox/get. RFC 8621 2.1. All of them fit into one answer: an account has at most 2,000. */
export const mailboxGet: Method = {
  name: 'Mailbox/get',
  capability: MAIL,
  async run(call, args) {
    const get = readGet(call, args, (property) => MAILBOX_PROPERTIES.has(property), {});
    const { account } = get.access;
    const rows = get.ids?.flatMap((id) => jmapRow('mailbox', account, id) ?? []) ?? null;
    const { state, nodes } = await countedTree(call.desk, account, rows);
    const found = nodes.map((node) => pick(mailboxObject(node, get.access), get.properties));
    return answerGet(get, formatState(state), found);
  },
};
