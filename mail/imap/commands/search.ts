import { no, ok } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { searchResponse } from '../search/response.ts';
import { bindSearch } from '../search/bind.ts';
import { parseSearch } from '../search/parse.ts';
import type { SearchCommand } from '../search/program.ts';
import type { SelectedView } from '../selected-view.ts';

/** SEARCH and UID SEARCH. RFC 9051 6.4.4, RFC 4731. */
export const search: ImapCommand<SearchCommand> = {
  name: 'SEARCH',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  capabilities: ['ESEARCH', 'WITHIN'],
  parse: (d) => parseSearch(d.sp()),

  async run(session, command, { tag, uid }) {
    if (command.kind === 'bad-charset') return no('BADCHARSET (US-ASCII UTF-8)', 'Unsupported charset');
    const { view } = session;
    const program = bindSearch(command.program, view.uids, view.length);
    const found = await session.store.search(view.shared.mailbox, view.shared, program);
    if ('kind' in found) return no('LIMIT', 'Search time limit reached. Use fewer or narrower keys');
    session.write(searchResponse(tag, uid, visibleToClient(view, found, uid), command.returns));
    return ok('Searched');
  },
};

/** Keeps only messages that were reported to the client: newer ones wait for their EXISTS. */
function visibleToClient(view: SelectedView, found: Uint32Array, uid: boolean): Uint32Array {
  const visible = new Uint32Array(found.length);
  let count = 0;
  let at = 0;
  for (const each of found) {
    while (at < view.length && (view.uids[at] ?? 0) < each) at += 1;
    if (at === view.length) break;
    if (view.uids[at] === each) visible[count++] = uid ? each : at + 1;
  }
  return visible.subarray(0, count);
}
