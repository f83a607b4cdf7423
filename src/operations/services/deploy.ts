import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { deployGateOf } from '../../recovery/gate-queries.ts';
import { addRevision, endDeploy, rollBack } from '../../services/commands.ts';
import { attachmentsOf } from '../../services/attachment-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { ENV_PURPOSE, omittedNames, ownEnvironment } from '../../services/environment.ts';
import { listRevisions, type Service, serviceById } from '../../services/queries.ts';
import { type AffectedMailboxes, type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isPlainLine } from '../../core/schemas.ts';
import { serviceOf } from '../scope.ts';

const MAX_JSON_CHARS = 64 * 1024;

/** A single line: systemd and docker compose read no more from an environment file. */
const Value = z.string().max(16_000).refine(isPlainLine, 'must be one line without control characters');
const Name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,99}$/, 'must have letters, digits and _ only')
  .refine((name) => !name.startsWith('EMAIL_'), 'names with EMAIL_ are reserved for attached mailboxes');
const Env = z
  .record(Name, Value)
  .refine((env) => Object.keys(env).length <= 200, 'has more than 200 names')
  .refine((env) => JSON.stringify(env).length <= MAX_JSON_CHARS, 'is larger than 64 KB');
const Spec = z
  .record(z.string().max(200), z.unknown())
  .refine((spec) => JSON.stringify(spec).length <= MAX_JSON_CHARS, 'is larger than 64 KB');

const Deployed = z.object({
  serviceId: z.string(),
  revision: z.number(),
  state: z.enum(['running', 'superseded', 'failed']),
  detail: z.string(),
});

export const deployService = operation({
  name: 'deploy_service',
  title: 'Deploy a service',
  toolset: 'deploy',
  reach: 'service',
  action: 'deploy',
  description:
    'Creates a new revision of a service, rewrites its environment file and restarts it. Omitted fields stay. Variables that the operator does not allow are left out. Needs an open deploy gate.',
  hints: {},
  rule: attachedMailboxes,
  input: z.strictObject({
    serviceId: Id('service'),
    env: Env.describe('Environment variables').optional(),
    spec: Spec.describe('Any JSON').optional(),
  }),
  output: Deployed,
  async run(call, { serviceId, env, spec }) {
    const service = await serviceOf(call, serviceId);
    await gate(call);
    const number = await inTurn(() => add(call, service, { env, spec }));
    return run(call, { ...service, revision: number });
  },
});

/** Checks the deploy gate: refuses an organization that can be neither recovered nor claimed. */
async function gate(call: Call): Promise<void> {
  const { open, blockers } = await call.store.read(deployGateOf, { organization: call.tenant });
  if (open) return;
  refuse(
    'deploy_gate_closed',
    'This organization may not deploy yet: register and verify a recovery key, or let a human open the claim link. See get_deploy_gate_status.',
    { blockers },
  );
}

let turn: Promise<unknown> = Promise.resolve();

/** Runs one at a time per service: a revision is based on the previous one and sealed with its number. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = turn.then(work);
  turn = mine.catch(() => undefined);
  return mine;
}

async function add(
  call: Call,
  { id, name }: Service,
  given: { env: object | undefined; spec: object | undefined },
): Promise<number> {
  const service = (await call.store.read(serviceById, { id })) ?? notFound('service');
  const revisions = await call.store.read(listRevisions, { service: id });
  const env = JSON.stringify(given.env ?? (await ownEnvironment(call, service, service.revision)));
  const current = revisions.find((one) => one.number === service.revision);
  const spec = given.spec === undefined ? (current?.spec ?? '{}') : JSON.stringify(given.spec);
  const number = (revisions[0]?.number ?? 0) + 1;
  const sealed = call.secrets.seal(ENV_PURPOSE, 'service_revision', `${id}/${number}`, Buffer.from(env));
  const row = { service: id, number, env: sealed, spec, by: call.caller.actor };
  const done = await call.change(addRevision, row, name, { revision: number });
  if (done.kind === 'missing') return notFound('service');
  if (done.kind === 'added') return number;
  return refuse('conflict', 'Another deployment of this service is running: try again.', { resource: 'service' });
}

async function run(call: Call, service: Service): Promise<z.output<typeof Deployed>> {
  await rewriteEnvFiles(call, [service.id]);
  const { state, detail: outcome } = await call.runner.apply(service);
  const detail = [outcome, ...(await omitted(call, service))].join('; ');
  const end = { service: service.id, number: service.revision, state, detail };
  await call.change(endDeploy, end, service.name, { revision: service.revision, state });
  return { serviceId: publicId('service', service.id), revision: service.revision, state, detail };
}

/** Names variables that a program does not get. */
async function omitted(call: Call, service: Service): Promise<string[]> {
  const names = await omittedNames(call, service);
  return names.length === 0 ? [] : [`left out, as the operator does not allow them: ${names.join(', ')}`];
}

/** A program gets the passwords of attached mailboxes, and acts with them unseen. */
async function attachedMailboxes(call: Call, { serviceId }: { serviceId: string }): Promise<AffectedMailboxes> {
  const { id } = await serviceOf(call, serviceId);
  return (await call.store.read(attachmentsOf, { service: id })).map(({ account }) => account);
}

export const rollbackService = operation({
  name: 'rollback_service',
  title: 'Roll back a service',
  toolset: 'deploy',
  reach: 'service',
  action: 'rollback',
  description:
    'Makes an earlier revision of a service current (see list_deployments), rewrites its environment file and restarts it.',
  hints: { destructive: true, idempotent: true },
  rule: attachedMailboxes,
  input: z.strictObject({ serviceId: Id('service'), revision: z.number().int().min(1).describe('Revision number') }),
  output: Deployed,
  async run(call, { serviceId, revision }) {
    const service = await serviceOf(call, serviceId);
    await gate(call);
    const done = await call.change(rollBack, { service: service.id, number: revision }, service.name, { revision });
    if (done.kind === 'missing') return notFound('revision');
    return run(call, { ...service, revision });
  },
});

export const restartService = operation({
  name: 'restart_service',
  title: 'Restart a service',
  toolset: 'deploy',
  reach: 'service',
  action: 'restart',
  description: 'Restarts a service with its current environment.',
  hints: {},
  input: z.strictObject({ serviceId: Id('service') }),
  output: Deployed,
  async run(call, { serviceId }) {
    const service = await serviceOf(call, serviceId);
    if (service.revision === 0) refuse('conflict', 'Not deployed yet: call deploy_service first.');
    return run(call, service);
  },
});
