import { keepVacation, vacationOf } from '../../../store/vacation.ts';
import { VACATION } from '../../capabilities.ts';
import type { Access, Call, Method } from '../../method.ts';
import { refusing } from '../../set-refusal.ts';
import { readPatched } from '../../set-properties.ts';
import { done, type Outcome, readSet, refused, runSet, type Setter } from '../../standard-set.ts';
import { formatState } from '../../state.ts';
import { SINGLETON, VACATION_VALUES, vacationObject } from '../../vacation/vacation-object.ts';

/** VacationResponse/set. RFC 8621 8.2. */
export const vacationSet: Method = {
  name: 'VacationResponse/set',
  capability: VACATION,
  run(call, args) {
    const asked = readSet(call, args, {});
    return runSet(call, asked, refusing(setter(call, asked.access), call.desk.log));
  },
};

function setter(call: Call, access: Access): Setter {
  const { desk } = call;
  const { account } = access;
  const only = refused('singleton', 'Each account has exactly one, "singleton": update it.');
  return {
    async state() {
      const { state } = await desk.store.read(vacationOf, { account });
      return formatState(state);
    },
    create: () => Promise.resolve(only),
    destroy: (id) => Promise.resolve(id === SINGLETON ? only : notFound(id)),
    update: (id, patch) => (id === SINGLETON ? update(call, access, patch) : Promise.resolve(notFound(id))),
  };
}

async function update(
  { desk: { store }, session }: Call,
  { account, mayTransmit }: Access,
  patch: Record<string, unknown>,
): Promise<Outcome<null>> {
  const { vacation } = await store.read(vacationOf, { account });
  const read = readPatched(VACATION_VALUES, vacationObject(vacation), patch);
  if (read.kind === 'refused') return read;
  const { isEnabled: enabled, fromDate: fromAt, toDate: toAt, subject, textBody, htmlBody } = read.value;
  // It would send what it cannot send itself, to whoever it has write here.
  if (enabled && !mayTransmit) return refused('forbidden', 'This login may not send: it can only switch this off.');
  // The gate judges no answer that goes by itself: an agent that was talked into one would write to whoever asks. Nor does
  // it write what a person would switch on later.
  const more = enabled || Object.keys(patch).some((name) => name !== 'isEnabled');
  if (more && (await session.isAgents?.()) === true) {
    return refused('forbidden', 'An agent may only switch this off; a person writes the answer and switches it on.');
  }
  if (fromAt !== null && toAt !== null && toAt <= fromAt) {
    return refused('invalidProperties', '"toDate" must be after "fromDate".', { properties: ['toDate'] });
  }
  await store.write(keepVacation, { account, vacation: { enabled, fromAt, toAt, subject, textBody, htmlBody } });
  return done(null);
}

const notFound = (id: string): Outcome<never> => refused('notFound', `There is no vacation response ${id}.`);
