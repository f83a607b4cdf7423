import { cancelSubmission } from '../../delivery/jmap-submission-commit.ts';
import {
  emailToSend,
  removeSubmission,
  type StoredSubmission,
  submissionsOf,
} from '../../store/submission/jmap-submission.ts';
import { resolveCreationId } from '../core/access.ts';
import { idOrCreation, list, mapOf, nullable, plainObject } from '../core/arguments.ts';
import { SUBMISSION } from '../core/capabilities.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import { type Access, actorOf, type JmapMethod, type MethodCall } from '../core/method.ts';
import { alignedIdentities } from '../identity/identity.ts';
import { readProperties } from '../standard/set-properties.ts';
import { done, type ObjectSetter, readSet, refused, runSet, type SetOutcome } from '../standard/standard-set.ts';
import { StateTrack } from '../standard/state-track.ts';
import { type SubmissionObject, submissionObject } from './email-submission.ts';
import { givenEnvelope } from './envelope.ts';
import { sendSubmission } from './submission-sender.ts';

/** EmailSubmission/set: submits, cancels and deletes submissions. RFC 8621 7.5. */
export const submissionSet: JmapMethod = {
  name: 'EmailSubmission/set',
  capability: SUBMISSION,
  async run(call, args) {
    const request = readSet(call, args, {
      onSuccessUpdateEmail: nullable(mapOf(plainObject)),
      onSuccessDestroyEmail: nullable(list(idOrCreation)),
    });
    const after = new OnSuccess();
    const { account } = request.access;
    const track = await StateTrack.begin(call.context.store, account, request.ifInState, 'EmailSubmission');
    const answer = await runSet(call, request, setter(call, request.access, track, after));
    const next = after.emailSet(call, request);
    if (next !== undefined) call.addImplicitCall('Email/set', { accountId: request.accountId, ...next });
    return { ...answer, ...track.states };
  },
};

function setter(call: MethodCall, access: Access, track: StateTrack, after: OnSuccess): ObjectSetter {
  const { store } = call.context;
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
      const outcome = await update(call, track, { access, current }, patch);
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

async function find(call: MethodCall, account: number, id: string): Promise<StoredSubmission | undefined> {
  const row = jmapRow('submission', account, id);
  if (row === undefined) return undefined;
  const { submissions } = await call.context.store.read(submissionsOf, { account, ids: [row], limit: 1 });
  return submissions[0];
}

async function create(
  call: MethodCall,
  access: Access,
  track: StateTrack,
  object: Record<string, unknown>,
): Promise<SetOutcome<SubmissionObject>> {
  const read = readProperties({ identityId: idOrCreation, emailId: idOrCreation, envelope: givenEnvelope }, object);
  if (read.kind === 'refused') return read;
  const { envelope } = read.value;
  const { account } = access;
  const { identities } = await alignedIdentities(call.context, account);
  const identityId = resolveCreationId(call, read.value.identityId);
  const identity = identities.find((one) => jmapId('identity', one.id) === identityId);
  if (identity === undefined) return missing('identityId', 'No such identity.');
  const emailRow = jmapRow('email', account, resolveCreationId(call, read.value.emailId) ?? '');
  const email = emailRow && (await call.context.store.read(emailToSend, { account, id: emailRow }));
  if (email === undefined || email === 0) return missing('emailId', 'No such email.');
  await call.session.onRead?.({ account, emails: [email.id], depth: 'sent' });
  const sent = await sendSubmission(call.context, track, { access, identity, email, envelope });
  if (sent.kind === 'refused') return sent;
  const made = await find(call, account, jmapId('submission', sent.value.id));
  if (made === undefined) throw new Error(`submission ${sent.value.id} is not there`);
  return done(submissionObject(made));
}

function missing(property: string, why: string): SetOutcome<never> {
  return refused('invalidProperties', why, { properties: [property] });
}

/** Cancels a pending submission (undo send); only `undoStatus` can change. */
async function update(
  call: MethodCall,
  track: StateTrack,
  { access, current }: { access: Access; current: StoredSubmission },
  patch: Record<string, unknown>,
): Promise<SetOutcome<Record<string, unknown> | null>> {
  const whole: Record<string, unknown> = submissionObject(current);
  const wrong = Object.entries(patch).filter(
    ([name, value]) =>
      !(name === 'undoStatus' && value === 'canceled') &&
      (!Object.hasOwn(whole, name) || JSON.stringify(whole[name]) !== JSON.stringify(value)),
  );
  if (wrong.length > 0) {
    const why = 'Only "undoStatus" can be changed, to "canceled".';
    return refused('invalidProperties', why, { properties: wrong.map(([name]) => name) });
  }
  if (patch['undoStatus'] !== 'canceled') return done(null);
  const { account } = access;
  const by = { agent: call.session.agent, actor: actorOf(access) };
  const { kind } = await track.write(call.context.store, cancelSubmission, { account, id: current.id, ...by });
  if (kind === 'missing') return notFound(jmapId('submission', current.id));
  if (kind === 'theirs') return refused('forbidden', 'A person sent this: an agent cannot cancel it.');
  if (kind === 'late') return refused('cannotUnsend', 'Already sent. The submission can no longer be canceled.');
  const now = await find(call, account, jmapId('submission', current.id));
  return done(now === undefined ? null : { deliveryStatus: submissionObject(now).deliveryStatus });
}

const notFound = (id: string): SetOutcome<never> => refused('notFound', `No submission ${id}.`);

/** Email changes that the client requests after success. RFC 8621 7.5. */
interface SuccessArguments {
  onSuccessUpdateEmail: ReadonlyMap<string, Record<string, unknown>> | null;
  onSuccessDestroyEmail: readonly string[] | null;
}

/** Collects the successful submissions of a call and their emails. */
class OnSuccess {
  readonly #emails = new Map<string, string>();

  note(submissionId: string, emailId: string): void {
    this.#emails.set(submissionId, emailId);
  }

  /** Arguments of the implicit Email/set; undefined if there is nothing to change. */
  emailSet(
    call: Pick<MethodCall, 'createdIds'>,
    { onSuccessUpdateEmail, onSuccessDestroyEmail }: SuccessArguments,
  ): { update?: Record<string, unknown>; destroy?: string[] } | undefined {
    const update = [...(onSuccessUpdateEmail ?? [])].flatMap(([name, patch]) => {
      const email = this.#emailOf(call, name);
      return email === undefined ? [] : [[email, patch] as const];
    });
    const destroy = (onSuccessDestroyEmail ?? []).flatMap((name) => this.#emailOf(call, name) ?? []);
    if (update.length + destroy.length === 0) return undefined;
    return {
      ...(update.length > 0 && { update: Object.fromEntries(update) }),
      ...(destroy.length > 0 && { destroy: [...new Set(destroy)] }),
    };
  }

  #emailOf(call: Pick<MethodCall, 'createdIds'>, name: string): string | undefined {
    const id = resolveCreationId(call, name);
    return id === undefined ? undefined : this.#emails.get(id);
  }
}
