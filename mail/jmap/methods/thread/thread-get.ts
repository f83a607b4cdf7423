import { threadEmails } from '../../../store/thread.ts';
import { MAIL } from '../../capabilities.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import type { Method } from '../../method.ts';
import { answerGet, pick, readGet, tooMany } from '../../standard-get.ts';
import { formatState } from '../../state.ts';

/** More threads than this may be long, and are read beside everybody's work. */
const FEW = 50;

const PROPERTIES: ReadonlySet<string> = new Set(['id', 'emailIds']);

/** Thread/get. RFC 8621 3.1. */
export const threadGet: Method = {
  name: 'Thread/get',
  capability: MAIL,
  async run(call, args) {
    const get = readGet(call, args, (property) => PROPERTIES.has(property), {});
    if (get.ids === null) throw tooMany(call);
    const { account } = get.access;
    const input = { account, threads: get.ids.flatMap((id) => jmapRow('thread', account, id) ?? []) };
    const { store } = call.desk;
    const found = await (input.threads.length > FEW
      ? store.scan(threadEmails, input)
      : store.read(threadEmails, input));
    const threads = [...found.threads].map(([thread, emails]) => ({
      id: jmapId('thread', thread),
      emailIds: emails.map((email) => jmapId('email', email)),
    }));
    return answerGet(
      get,
      formatState(found.state),
      threads.map((one) => pick(one, get.properties)),
    );
  },
};
