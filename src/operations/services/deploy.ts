import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { gateOf } from '../../recovery/gate-queries.ts';
import { addRevision, endDeploy, rollBack } from '../../services/commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { ENV_PURPOSE, ownEnvironment } from '../../services/environment.ts';
import { listRevisions, type Service, serviceById } from '../../services/queries.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isPlainLine } from '../schemas.ts';
import { serviceOf } from '../scope.ts';

const LARGEST = 64 * 1024;

/** One value is one line: neither systemd nor docker compose reads more in an environment file. */
const Value = z.string().max(16_000).refine(isPlainLine, 'must be one line without control characters');
/** They make loaders, shells and interpreters run other code than the operator's: who may deploy chose none of it. */
const LOADERS =
  /^(?:LD_\w+|DYLD_\w+|GLIBC_TUNABLES|PATH|IFS|ENV|BASH_ENV|BASH_FUNC\w*|SHELLOPTS|BASHOPTS|PS4|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP|INSPECT|BREAKPOINT|WARNINGS)|PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|GIT_\w+|PHP_INI_SCAN_DIR|PHPRC|LUA_(?:INIT|PATH|CPATH)\w*|DOTNET_STARTUP_HOOKS|BUN_OPTIONS|DENO_\w+)$/;

const Name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,99}$/, 'a name has letters, digits and _')
  .refine((name) => !LOADERS.test(name), 'changes what the program is: that is for the operator')
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
    'Makes a new revision of a service (environment and a free spec; what is left out stays as it was), rewrites its environment file and restarts it through its control. Needs an open deploy gate.',
  hints: {},
  input: z.strictObject({ serviceId: Id('service'), env: Env.optional(), spec: Spec.optional() }),
  output: Deployed,
  async run(call, { serviceId, env, spec }) {
    const service = await serviceOf(call, serviceId);
    await gate(call);
    const number = await inTurn(() => add(call, service, { env, spec }));
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

let turn: Promise<unknown> = Promise.resolve();

/** One after another: a revision is made of the one before it, and its number is part of what it is sealed for. */
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
  return refuse('conflict', 'Others deploy this service right now: try again.', { resource: 'service' });
}

async function run(call: Call, service: Service): Promise<z.output<typeof Deployed>> {
  await rewriteEnvFiles(call, [service.id]);
  const { state, detail } = await call.runner.apply(service);
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
