import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { gateOf } from '../../recovery/gate-queries.ts';
import { addRevision, endDeploy, rollBack } from '../../services/commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { ENV_PURPOSE, ownEnvironment } from '../../services/environment.ts';
import { listRevisions, type Service } from '../../services/queries.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isPlainLine } from '../schemas.ts';
import { serviceOf } from '../scope.ts';

const LARGEST = 64 * 1024;

/** One value is one line: neither systemd nor docker compose reads more in an environment file. */
const Value = z.string().max(16_000).refine(isPlainLine, 'must be one line without control characters');
const Name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,99}$/, 'a name has letters, digits and _')
  .refine((name) => !name.startsWith('EMAIL_'), 'names with EMAIL_ are given by attached mailboxes');
const Env = z
  .record(Name, Value)
  .refine((env) => Object.keys(env).length <= 200, 'has more than 200 names')
  .refine((env) => JSON.stringify(env).length <= LARGEST, 'is larger than 64 KB');
const Spec = z
  .record(z.string().max(200), z.unknown())
  .refine((spec) => JSON.stringify(spec).length <= LARGEST, 'is larger than 64 KB');

const Deployed = z.object({
  serviceId: z.string(),
  revision: z.number(),
  state: z.enum(['running', 'failed']),
  detail: z.string(),
});

export const deployService = operation({
  name: 'deploy_service',
  title: 'Deploy a service',
  toolset: 'deploy',
  reach: 'service',
  action: 'deploy',
  description:
    'Makes a new revision of a service (environment and a free spec; what is left out stays as it was), rewrites its environment file and restarts it through its control. Needs an open deploy gate.',
  hints: {},
  input: z.strictObject({ serviceId: Id('service'), env: Env.optional(), spec: Spec.optional() }),
  output: Deployed,
  async run(call, { serviceId, env, spec }) {
    const service = await serviceOf(call, serviceId);
    await gate(call);
    const [current] = (await call.store.read(listRevisions, { service: service.id })).filter(
      (one) => one.number === service.revision,
    );
    const text = JSON.stringify(env ?? (await ownEnvironment(call, service, service.revision)));
    const number = await add(call, service, text, spec === undefined ? (current?.spec ?? '{}') : JSON.stringify(spec));
    return run(call, { ...service, revision: number });
  },
});

/** Only what nobody can recover yet, or may claim, is kept from deploying. */
async function gate(call: Call): Promise<void> {
  const { open, blockers } = await call.store.read(gateOf, { organization: call.tenant });
  if (open) return;
  refuse(
    'deploy_gate_closed',
    'This organization may not deploy yet: register and verify a recovery key, or let a human open the claim link. get_deploy_gate_status has the details.',
    { blockers },
  );
}

async function add(call: Call, service: Service, env: string, spec: string): Promise<number> {
  // The number is part of what the document is sealed for; whoever came first meanwhile took it.
  for (let tries = 0; tries < 5; tries++) {
    const [last] = await call.store.read(listRevisions, { service: service.id });
    const number = (last?.number ?? 0) + 1;
    const sealed = call.secrets.seal(ENV_PURPOSE, 'service_revision', `${service.id}/${number}`, Buffer.from(env));
    const row = { service: service.id, number, env: sealed, spec, by: call.caller.actor };
    const done = await call.change(addRevision, row, service.name, { revision: number });
    if (done.kind === 'added') return number;
    if (done.kind === 'missing') return notFound('service');
  }
  return refuse('conflict', 'Others deploy this service right now: try again.', { resource: 'service' });
}

async function run(call: Call, service: Service): Promise<z.output<typeof Deployed>> {
  await rewriteEnvFiles(call, [service.id]);
  const { ok, detail } = await call.runner.apply(service);
  const state = ok ? ('running' as const) : ('failed' as const);
  const end = { service: service.id, number: service.revision, state, detail };
  await call.change(endDeploy, end, service.name, { revision: service.revision, state });
  return { serviceId: publicId('service', service.id), revision: service.revision, state, detail };
}

export const rollbackService = operation({
  name: 'rollback_service',
  title: 'Roll a service back',
  toolset: 'deploy',
  reach: 'service',
  action: 'rollback',
  description:
    'Makes an earlier revision of a service the current one, rewrites its environment file and restarts it through its control. list_deployments has the revisions.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ serviceId: Id('service'), revision: z.number().int().min(1) }),
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
  description: 'Restarts a service as it is, through its control, with its environment as it is now.',
  hints: {},
  input: z.strictObject({ serviceId: Id('service') }),
  output: Deployed,
  async run(call, { serviceId }) {
    const service = await serviceOf(call, serviceId);
    if (service.revision === 0) refuse('conflict', 'Nothing was deployed yet: call deploy_service first.');
    return run(call, service);
  },
});
