import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { Meter } from '../../mail/log.ts';
import { unreportedTrips, type UnreportedTrip } from '../../mail/agents/canary/canary.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { notifyTrips, nameOfCredential } from './trip-commands.ts';
import { publicId } from '../core/ids.ts';
import { plainName, composeForOwners } from '../notices/owners.ts';
import { lookupKeys, parseAddress } from '../../mail/message/address.ts';
import { isPlainAddress } from '../../mail/message/plain-address.ts';

const MAX_TRIPS = 50;

interface TenantTrips {
  tenant: number;
  trips: readonly UnreportedTrip[];
}

interface ComposedAlert {
  notices: readonly SystemNotice<'canary-alert'>[];
}

/** Alerts owners to tripped canaries: one notice with all trips of a run. */
export function canaryAlerts(context: NoticeContext & { metrics: Meter }): NoticeSource<TenantTrips, ComposedAlert> {
  const { store, metrics } = context;
  return {
    kind: 'canary-alert',
    everyMs: 5_000,
    event: { level: 'warn', message: 'owners notified of a tripped canary' },
    async *due() {
      const all = await store.read(unreportedTrips, { limit: MAX_TRIPS });
      for (const [tenant, trips] of Map.groupBy(all, (one) => one.tenant)) yield { tenant, trips };
    },
    async compose({ tenant, trips }) {
      return { notices: await composeCanaryAlert(context, tenant, trips) };
    },
    async mark({ tenant, trips }, { notices }) {
      const { notified } = await store.write(notifyTrips, { tenant, trips, notices });
      if (notified === 0) return undefined;
      const written = trips.filter(({ credential }) => credential === '').length;
      if (written > 0) metrics.count('canary_trips_total', { what: 'written-to' }, written);
      return { organization: tenant, events: notified };
    },
  };
}

/** Addresses that a notice names. */
const MAX_NAMED = 5;

/** Composes the alert about tripped canaries, for each owner. It does not explain canaries: agents may read it. */
export async function composeCanaryAlert(
  context: NoticeContext,
  tenant: number,
  trips: readonly UnreportedTrip[],
): Promise<SystemNotice<'canary-alert'>[]> {
  const { hostname } = context.settings;
  const pages = `${context.baseUrl()}/o/${publicId('organization', tenant)}`;
  const stopped = trips.some(({ credential }) => credential !== '');
  const named = await Promise.all(trips.map((trip) => tripText(context, pages, trip)));
  return composeForOwners(
    context,
    { kind: 'canary-alert', organization: tenant },
    {
      subject: stopped ? 'Alert: an agent touched a canary and is frozen' : 'Alert: mail to a canary address',
      text: [
        'Hello,',
        '',
        `on the mail server ${hostname} somebody touched data that nobody should use:`,
        '',
        ...named.flat(),
        ...(stopped ? STOPPED : UNKNOWN),
        '',
        ...(stopped ? [`See what it did, and unfreeze it: ${pages}/agents`] : []),
        `Audit log: ${pages}/audit`,
        '',
        `Mailstead on ${hostname}`,
      ],
    },
  );
}

const STOPPED = [
  'The agent is frozen: it can neither read nor send, and its unsent mail is held.',
  'If it used a password, all tokens for the mailbox are frozen, and the password is rejected',
  'until you mark the alert as reviewed on the canary page.',
  'If you unfreeze the agent, touching the canary freezes it again.',
  'A mail that it read may have instructed it to do this. Review it before you unfreeze the agent.',
];
const UNKNOWN = [
  'The address was published nowhere else. The sender got it from the canary, or from somebody who read it.',
  'No agent is frozen, as it is unknown who leaked the address.',
];

/** Names senders or recipients, without the canary's own address and anything that is no plain address. */
function addressesOf({ about, address }: UnreportedTrip): string[] {
  const plain = about.filter(isPlainAddress).filter((one) => {
    const parsed = parseAddress(one);
    return address === null || parsed === undefined || !lookupKeys(parsed).includes(address);
  });
  const more = plain.length - MAX_NAMED;
  return [...plain.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])];
}

const TRIP_TEXT: Record<UnreportedTrip['what'], string> = {
  opened: 'opened its message',
  shown: 'received its secret',
  sent: 'tried to send its secret, or to write to its address',
  'written-to': 'wrote to its address',
};

async function tripText({ store }: NoticeContext, pages: string, trip: UnreportedTrip): Promise<string[]> {
  const { account, label, credential, at, protocol, what } = trip;
  const who = await store.read(nameOfCredential, { credential });
  const addresses = addressesOf(trip).join(', ');
  return [
    `  Canary: ${plainName(label)}`,
    `  Who: ${credential === '' ? 'unknown' : `${plainName(who)} (${credential})`}`,
    `  What: ${TRIP_TEXT[what]}, by ${protocol}`,
    ...(addresses === '' ? [] : [`  ${what === 'sent' ? 'To' : 'From'}: ${addresses}`]),
    `  When: ${new Date(at).toISOString()}`,
    `  Details: ${pages}/mailboxes/${publicId('mailbox', account)}/canaries`,
    '',
  ];
}
