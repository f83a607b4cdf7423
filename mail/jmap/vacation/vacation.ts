import { storeVacation, type Vacation, vacationOf } from '../../store/submission/vacation.ts';
import { type ArgumentReader, bool, nullable, utcDate, formatUtc } from '../core/arguments.ts';
import { VACATION } from '../core/capabilities.ts';
import type { Access, MethodCall } from '../core/method.ts';
import { orDefault, readPatched, textUpTo } from '../standard/set-properties.ts';
import { formatState } from '../standard/standard-changes.ts';
import { getMethod } from '../standard/standard-get.ts';
import { done, refused, setMethod, type SetOutcome } from '../standard/standard-set.ts';

/** Id of the only VacationResponse of an account. RFC 8621 8. */
const SINGLETON = 'singleton';

const VACATION_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'isEnabled',
  'fromDate',
  'toDate',
  'subject',
  'textBody',
  'htmlBody',
]);

function vacationObject({ enabled, fromAt, toAt, subject, textBody, htmlBody }: Vacation) {
  return {
    id: SINGLETON,
    isEnabled: enabled,
    fromDate: fromAt === null ? null : formatUtc(fromAt),
    toDate: toAt === null ? null : formatUtc(toAt),
    subject,
    textBody,
    htmlBody,
  };
}

const MAX_BODY_LENGTH = 256 * 1024;

/** Properties that a client may set. */
const VACATION_VALUES = {
  isEnabled: orDefault(bool, false),
  fromDate: nullable(utcDate),
  toDate: nullable(utcDate),
  subject: nullable(textUpTo(500)),
  textBody: nullable(textUpTo(MAX_BODY_LENGTH)),
  htmlBody: nullable(textUpTo(MAX_BODY_LENGTH)),
} satisfies Record<string, ArgumentReader<unknown>>;

/** VacationResponse/get. RFC 8621 8.1. */
export const vacationGet = getMethod({
  name: 'VacationResponse/get',
  capability: VACATION,
  properties: VACATION_PROPERTIES,
  async find({ context }, { access }) {
    const { vacation, state } = await context.store.read(vacationOf, { account: access.account });
    return { found: [vacationObject(vacation)], state: formatState(state) };
  },
});

/** VacationResponse/set. RFC 8621 8.2. */
export const vacationSet = setMethod('VacationResponse/set', VACATION, (call, access) => {
  const { account } = access;
  const only = refused('singleton', 'An account has exactly one VacationResponse, "singleton". Update it.');
  return {
    async state() {
      const { state } = await call.context.store.read(vacationOf, { account });
      return formatState(state);
    },
    create: () => Promise.resolve(only),
    destroy: (id) => Promise.resolve(id === SINGLETON ? only : notFound(id)),
    update: (id, patch) => (id === SINGLETON ? update(call, access, patch) : Promise.resolve(notFound(id))),
  };
});

async function update(
  { context: { store }, session }: MethodCall,
  { account, mayTransmit }: Access,
  patch: Record<string, unknown>,
): Promise<SetOutcome<null>> {
  const { vacation } = await store.read(vacationOf, { account });
  const read = readPatched(VACATION_VALUES, vacationObject(vacation), patch);
  if (read.kind === 'refused') return read;
  const { isEnabled: enabled, fromDate: fromAt, toDate: toAt, subject, textBody, htmlBody } = read.value;
  // A login without send permission must not cause automatic replies.
  if (enabled && !mayTransmit)
    return refused('forbidden', 'This login has no permission to send. It can only disable the vacation response.');
  // Automatic replies bypass the agent gate: a prompt-injected agent could write to any sender. It must not prepare a text
  // that a person enables later, either.
  const more = enabled || Object.keys(patch).some((name) => name !== 'isEnabled');
  if (more && (await session.isAgent?.()) === true) {
    return refused('forbidden', 'Agents can only disable the vacation response. A person must write and enable it.');
  }
  if (fromAt !== null && toAt !== null && toAt <= fromAt) {
    return refused('invalidProperties', '"toDate" must be after "fromDate".', { properties: ['toDate'] });
  }
  await store.write(storeVacation, { account, vacation: { enabled, fromAt, toAt, subject, textBody, htmlBody } });
  return done(null);
}

const notFound = (id: string): SetOutcome<never> => refused('notFound', `No vacation response ${id}.`);
