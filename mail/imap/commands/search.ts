import { no, ok } from '../answer.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { searchAnswer } from '../search/answer.ts';
import { bindSearch } from '../search/bind.ts';
import { parseSearch } from '../search/parse.ts';
import type { SearchCommand } from '../search/program.ts';
import type { SelectedView } from '../view.ts';

/** SEARCH and UID SEARCH. RFC 9051 6.4.4, RFC 4731. */
export const search: ImapCommand<SearchCommand> = {
  name: 'SEARCH',
  states: SELECTED,
  uidForm: true,
  tellable: 'no-expunge',
  capabilities: ['ESEARCH', 'WITHIN'],
  parse: (d) => parseSearch(d.sp()),

  async run(session, wanted, { tag, uid }) {
    if (wanted.kind === 'bad-charset') return no('BADCHARSET (US-ASCII UTF-8)', 'That charset is not known here');
    const { view } = session;
    const program = bindSearch(wanted.program, view.uids, view.length);
    const found = await session.store.search(view.shared.mailbox, view.shared, program);
    if ('kind' in found) return no('LIMIT', 'That search takes too long, make it narrower');
    session.say(searchAnswer(tag, uid, told(view, found, uid), wanted.returns));
    return ok('Searched');
  },
};

/** What the client knows of: a message that arrived since is not there for it until EXISTS was said. */
function told(view: SelectedView, found: Uint32Array, uid: boolean): Uint32Array {
  const known = new Uint32Array(found.length);
  let count = 0;
  let at = 0;
  for (const each of found) {
    while (at < view.length && (view.uids[at] ?? 0) < each) at += 1;
    if (at === view.length) break;
    if (view.uids[at] === each) known[count++] = uid ? each : at + 1;
  }
  return known.subarray(0, count);
}
