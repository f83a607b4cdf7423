import { readAccess, resolveCreationId } from '../core/access.ts';
import { anything, idOrCreation, list, object } from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapRow } from '../core/ids.ts';
import type { JmapMethod } from '../core/method.ts';
import { readerScope } from '../core/shared-accounts.ts';
import { readFilter } from './filter-arguments.ts';
import { emailSnippets, snippetTermsOf, type EmailSnippet, MAX_SNIPPETS } from './email-snippets.ts';
import { tooManyObjects } from '../standard/standard-get.ts';
import { isHumanReader } from '../redact.ts';

/** Maximum time of one call. */
const MAX_CALL_MS = 10_000;

/** SearchSnippet/get. RFC 8621 5.1. */
export const searchSnippetGet: JmapMethod = {
  name: 'SearchSnippet/get',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const access = readAccess(call, args['accountId']);
    const read = object({ accountId: anything, filter: anything, emailIds: list(idOrCreation) })(args, '');
    const searched = snippetTermsOf(readFilter(call, access, read.filter));
    const requestedRows = new Map(
      read.emailIds.map((given) => {
        const id = resolveCreationId(call, given) ?? given;
        return [id, jmapRow('email', access.account, id) ?? 0];
      }),
    );
    if (requestedRows.size > call.context.limits.maxObjectsInGet) throw tooManyObjects(call);
    const found = new Map<number, EmailSnippet>();
    const until = performance.now() + MAX_CALL_MS;
    const rows = [...requestedRows.values()];
    const isHuman = await isHumanReader(call, access.account);
    for (let at = 0; at < rows.length; at += MAX_SNIPPETS) {
      if (performance.now() > until)
        throw new MethodError('serverUnavailable', 'The call takes too long. Request fewer emails.');
      const within = readerScope(call, access.account);
      const page = { account: access.account, blobs: call.context.store.files.directory, within, searched, isHuman };
      const emails = rows.slice(at, at + MAX_SNIPPETS);
      for (const one of await call.context.store.scan(emailSnippets, { ...page, emails })) found.set(one.email, one);
    }
    const notFound = [...requestedRows].filter(([, row]) => !found.has(row)).map(([id]) => id);
    const byDepth = Map.groupBy(found.values(), ({ opens }) => (opens ? 'read' : 'listed'));
    for (const [depth, some] of byDepth) {
      await call.session.onRead?.({ account: access.account, emails: some.map(({ email }) => email), depth });
    }
    return {
      accountId: args['accountId'],
      list: [...requestedRows].flatMap(([emailId, row]) => {
        const one = found.get(row);
        return one === undefined ? [] : [{ emailId, subject: one.subject, preview: one.preview }];
      }),
      notFound: notFound.length === 0 ? null : notFound,
    };
  },
};
