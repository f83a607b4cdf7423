import type { AppContext } from '../core/app-context.ts';
import type { FirstReadsOf, PageReads } from '../jmap/first-route.ts';
import type { JmapCaller } from '../jmap/http-exchange.ts';
import { FOLDER_CALLS, folderQueryOf, IDENTITY_CALLS, methodCallsOf, windowCalls } from './client/mail-requests.ts';
import { type SnoozedMessage, snoozedOf } from './snooze-routes.ts';

/** Address that answers the first requests of a page which opens a folder. */
export const firstReadsUrl = (folder: string): string => `/mail/jmap/first?folder=${encodeURIComponent(folder)}`;

/** Reads what a page shows first: snoozed messages, the folders, the identities, and the list of a folder. */
export function firstReads(context: AppContext): FirstReadsOf {
  return async (caller, request): Promise<PageReads> => {
    const snoozed = await snoozedBy(context, caller);
    const [account = ''] = caller.session.accounts.keys();
    const { folder } = request.query as { folder?: unknown };
    const list = typeof folder === 'string' ? [windowCalls(folderQueryOf(folder, snoozed), 0)] : [];
    const requests = [...list, FOLDER_CALLS, IDENTITY_CALLS].map((calls) => methodCallsOf(account, calls));
    return { more: { snoozed }, requests };
  };
}

/** Snoozed messages are a person's: a password that agents may use gets none, as from `GET /mail/snoozed`. */
async function snoozedBy(context: AppContext, { login, session }: JmapCaller): Promise<SnoozedMessage[]> {
  if (login === undefined || (await session.isAgent?.()) === true) return [];
  return snoozedOf(context, login);
}
