import { cancelSubmission } from '../../../delivery/email-submission.ts';
import { emailToSend, removeSubmission, type StoredSubmission, submissionsOf } from '../../../store/jmap-submission.ts';
import { idOrCreation, list, mapOf, nullable, plainObject } from '../../arguments.ts';
import { SUBMISSION } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { alignedIdentities } from '../../identity/identity-object.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import type { Access, Call, Method } from '../../method.ts';
import { refusing } from '../../set-refusal.ts';
import { readProperties } from '../../set-properties.ts';
import { done, type Outcome, readSet, refused, runSet, type Setter } from '../../standard-set.ts';
import { StateTrack } from '../../state-track.ts';
import { givenEnvelope } from '../../submission/envelope.ts';
import { OnSuccess } from '../../submission/on-success.ts';
import { sendSubmission } from '../../submission/send.ts';
import { type SubmissionObject, submissionObject } from '../../submission/submission-object.ts';

/** EmailSubmission/set: sends, takes back, forgets. RFC 8621 7.5. */
export const submissionSet: Method = {
  name: 'EmailSubmission/set',
  capability: SUBMISSION,
  async run(call, args) {
    const asked = readSet(call, args, {
      onSuccessUpdateEmail: nullable(mapOf(plainObject)),
      onSuccessDestroyEmail: nullable(list(idOrCreation)),
    });
    const after = new OnSuccess();
    const { account } = asked.access;
    const track = await StateTrack.begin(call.desk.store, account, asked.ifInState, 'EmailSubmission');
    const answer = await runSet(call, asked, refusing(setter(call, asked.access, track, after), call.desk.log));
    const next = after.emailSet(call, asked);
    if (next !== undefined) call.follow('Email/set', { accountId: asked.accountId, ...next });
    return { ...answer, ...track.states };
  },
};

function setter(call: Call, access: Access, track: StateTrack, after: OnSuccess): Setter {
  const { store } = call.desk;
  const { account } = access;
  return {
    state: () => Promise.resolve(track.states.newState),
    async create(_creationId, object) {
      const made = await create(call, access, track, object);
      if (made.kind === 'done') after.note(made.value.id, made.value.emailId);
      return made;
    },
    async update(id, patch) {
      const current = await find(call, account, id);
      if (current === undefined) return notFound(id);
      const outcome = await update(call, track, { account, current }, patch);
      if (outcome.kind === 'done') after.note(id, jmapId('email', current.email));
      return outcome;
    },
    async destroy(id) {
      const current = await find(call, account, id);
      if (current === undefined) return notFound(id);
      await track.write(store, removeSubmission, { account, id: current.id });
      after.note(id, jmapId('email', current.email));
      return done(null);
    },
  };
}

async function find(call: Call, account: number, id: string): Promise<StoredSubmission | undefined> {
  const row = jmapRow('submission', account, id);
  if (row === undefined) return undefined;
  const { submissions } = await call.desk.store.read(submissionsOf, { account, ids: [row], limit: 1 });
  return submissions[0];
}

async function create(
  call: Call,
  access: Access,
  track: StateTrack,
  object: Record<string, unknown>,
): Promise<Outcome<SubmissionObject>> {
  const read = readProperties({ identityId: idOrCreation, emailId: idOrCreation, envelope: givenEnvelope }, object);
  if (read.kind === 'refused') return read;
  const { envelope } = read.value;
  const { account } = access;
  const { identities } = await alignedIdentities(call.desk, account);
  const identityId = realId(call, read.value.identityId);
  const identity = identities.find((one) => jmapId('identity', one.id) === identityId);
  if (identity === undefined) return missing('identityId', 'There is no such identity.');
  const emailRow = jmapRow('email', account, realId(call, read.value.emailId) ?? '');
  const email = emailRow && (await call.desk.store.read(emailToSend, { account, id: emailRow }));
  if (email === undefined || email === 0) return missing('emailId', 'There is no such email.');
  // What is sent is handed out, read or not.
  await call.session.opened?.(account, [email.id], 'octets');
  const sent = await sendSubmission(call.desk, track, { access, identity, email, envelope });
  if (sent.kind === 'refused') return sent;
  const made = await find(call, account, jmapId('submission', sent.value.id));
  if (made === undefined) throw new Error(`submission ${sent.value.id} is not there`);
  return done(submissionObject(made));
}

function missing(property: string, why: string): Outcome<never> {
  return refused('invalidProperties', why, { properties: [property] });
}

/** Only `undoStatus` can change, from pending to canceled: undo send. */
async function update(
  call: Call,
  track: StateTrack,
  { account, current }: { account: number; current: StoredSubmission },
  patch: Record<string, unknown>,
): Promise<Outcome<Record<string, unknown> | null>> {
  const whole: Record<string, unknown> = submissionObject(current);
  const wrong = Object.entries(patch).filter(
    ([name, value]) =>
      !(name === 'undoStatus' && value === 'canceled') &&
      (!Object.hasOwn(whole, name) || JSON.stringify(whole[name]) !== JSON.stringify(value)),
  );
  if (wrong.length > 0) {
    const why = 'Only "undoStatus" can be set, to "canceled".';
    return refused('invalidProperties', why, { properties: wrong.map(([name]) => name) });
  }
  if (patch['undoStatus'] !== 'canceled') return done(null);
  const { kind } = await track.write(call.desk.store, cancelSubmission, { account, id: current.id });
  if (kind === 'missing') return notFound(jmapId('submission', current.id));
  if (kind === 'late') return refused('cannotUnsend', 'It has left already and cannot be taken back.');
  const now = await find(call, account, jmapId('submission', current.id));
  return done(now === undefined ? null : { deliveryStatus: submissionObject(now).deliveryStatus });
}

const notFound = (id: string): Outcome<never> => refused('notFound', `There is no submission ${id}.`);
