import { readAccess } from '../../access.ts';
import { anything, idOrCreation, list, object } from '../../arguments.ts';
import { MAIL } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { MethodError } from '../../errors.ts';
import { jmapRow } from '../../ids.ts';
import type { Method } from '../../method.ts';
import { readFilter } from '../../query/read-filter.ts';
import { emailSnippets, searchedBy, type Snippet, SNIPPETS } from '../../query/snippets.ts';
import { tooMany } from '../../standard-get.ts';
import { asksPerson } from '../../veil.ts';

/** How long one call may take altogether. */
const LONGEST_MS = 10_000;

/** SearchSnippet/get. RFC 8621 5.1. */
export const searchSnippetGet: Method = {
  name: 'SearchSnippet/get',
  capability: MAIL,
  async run(call, args) {
    const access = readAccess(call, args['accountId']);
    const read = object({ accountId: anything, filter: anything, emailIds: list(idOrCreation) })(args, '');
    const searched = searchedBy(readFilter(call, access, read.filter));
    const asked = new Map(
      read.emailIds.map((given) => {
        const id = realId(call, given) ?? given;
        return [id, jmapRow('email', access.account, id) ?? 0];
      }),
    );
    if (asked.size > call.desk.limits.maxObjectsInGet) throw tooMany(call);
    const found = new Map<number, Snippet>();
    const until = performance.now() + LONGEST_MS;
    const rows = [...asked.values()];
    const isPerson = await asksPerson(call, access.account);
    for (let at = 0; at < rows.length; at += SNIPPETS) {
      if (performance.now() > until)
        throw new MethodError('serverUnavailable', 'This takes too long: ask for fewer emails.');
      const page = { account: access.account, blobs: call.desk.store.files.directory, searched, isPerson };
      const emails = rows.slice(at, at + SNIPPETS);
      for (const one of await call.desk.store.scan(emailSnippets, { ...page, emails })) found.set(one.email, one);
    }
    const notFound = [...asked].filter(([, row]) => !found.has(row)).map(([id]) => id);
    await call.session.shown?.(access.account, [...found.keys()]);
    const opened = [...found.values()].filter(({ opens }) => opens).map(({ email }) => email);
    if (opened.length > 0) await call.session.opened?.(access.account, opened, 'text');
    return {
      accountId: args['accountId'],
      list: [...asked].flatMap(([emailId, row]) => {
        const one = found.get(row);
        return one === undefined ? [] : [{ emailId, subject: one.subject, preview: one.preview }];
      }),
      notFound: notFound.length === 0 ? null : notFound,
    };
  },
};
