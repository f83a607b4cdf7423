import { CORE, WEBPUSH_VAPID, WEBSOCKET } from './capabilities.ts';
import { accountCapabilities, serverCapabilities } from './account-capabilities.ts';
import type { Access, JmapDesk, JmapSession } from './method.ts';
import { sessionState } from './session.ts';

/** RFC 4790, 5051: the collations that sorting by text may ask for. */
const COLLATIONS = ['i;ascii-casemap', 'i;unicode-casemap'];

/** The session object. `base` is the origin that the client came to, without a slash at the end. RFC 8620 2. */
export function sessionObject(desk: JmapDesk, session: JmapSession, base: string): Record<string, unknown> {
  const accounts = [...session.accounts].map(([id, access]) => [id, accountObject(access, desk)] as const);
  const [first] = session.accounts.keys();
  const primary =
    first === undefined ? [] : Object.keys(accounts[0]?.[1].accountCapabilities ?? {}).map((uri) => [uri, first]);
  return {
    capabilities: {
      [CORE]: { ...desk.limits, collationAlgorithms: COLLATIONS },
      ...serverCapabilities(),
      ...webSocket(base),
      [WEBPUSH_VAPID]: { applicationServerKey: desk.push.publicKey },
    },
    accounts: Object.fromEntries(accounts),
    primaryAccounts: Object.fromEntries(primary),
    username: session.username,
    apiUrl: `${base}/jmap/api`,
    downloadUrl: `${base}/jmap/download/{accountId}/{blobId}/{name}?accept={type}`,
    uploadUrl: `${base}/jmap/upload/{accountId}`,
    eventSourceUrl: `${base}/jmap/eventsource?types={types}&closeafter={closeafter}&ping={ping}`,
    state: sessionState(session),
  };
}

function accountObject(access: Access, desk: JmapDesk) {
  const { address, readOnly } = access;
  return {
    name: address,
    isPersonal: true,
    isReadOnly: readOnly,
    accountCapabilities: accountCapabilities(access, desk.maxMessageBytes),
  };
}

/** RFC 8887 3. */
function webSocket(base: string): Record<string, object> {
  return { [WEBSOCKET]: { url: `${base.replace(/^http/, 'ws')}/jmap/ws`, supportsPush: true } };
}
