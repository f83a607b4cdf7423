import { z } from 'zod';
import { rowId } from '../../core/ids.ts';
import { controlOf } from '../../services/control.ts';
import { setControl } from '../../services/commands.ts';
import { allServices, serviceById } from '../../services/queries.ts';
import { operation } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { Id } from '../../core/schemas.ts';
import { ShownService, shownService } from '../services/shown.ts';

/** Schema of a stored `Control` (src/services/control.ts). */
const Control = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('command'),
    /** Program and arguments, run without a shell. */
    command: z.array(z.string().min(1).max(4_000)).min(1).max(100),
    uid: z.number().int().min(1).max(0xfffffffe).describe('User and group of its own'),
  }),
  z.strictObject({
    kind: z.literal('systemd'),
    unit: z.string().regex(/^[\w@.:-]{1,200}\.service$/, 'must look like shop.service'),
  }),
  z.strictObject({
    kind: z.literal('compose'),
    file: z.string().min(1).max(1_000).startsWith('/', 'must be an absolute path'),
    service: z.string().regex(/^[\w][\w.-]{0,100}$/, 'must be a compose service name'),
  }),
]);

/** The operator may allow a program's options; names that affect the sandbox itself are never allowed. */
const VariableName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,99}$/, 'must have letters, digits and _ only')
  .refine((name) => !/^(?:LD_|GLIBC_|EMAIL_)|^PATH$/.test(name), 'is reserved');

export const setServiceControl = operation({
  name: 'set_service_control',
  title: 'Set how a service runs',
  toolset: 'deploy',
  reach: 'organization',
  action: 'deploy',
  socketOnly: true,
  description:
    'Sets how deploy, restart and rollback of a service act on this machine: nothing, a supervised command, a systemd unit or a compose service; and the names of variables that its environment may have. Omitted fields stay.',
  hints: { idempotent: true },
  input: z.strictObject({
    serviceId: Id('service'),
    control: Control.describe('How to run it').optional(),
    variables: z.array(VariableName).max(200).describe('Names that deployments may set').optional(),
  }),
  output: z.object({ service: ShownService }),
  async run(call, { serviceId, control, variables }) {
    const id = rowId('service', serviceId) ?? notFound('service');
    const before = controlOf(((await call.store.read(serviceById, { id })) ?? notFound('service')).control);
    const next = { ...(control ?? before), variables: variables ?? before.variables ?? [] };
    await call.change(setControl, { id, control: JSON.stringify(next) }, serviceId, { kind: next.kind });
    const service = await call.store.read(serviceById, { id });
    return { service: shownService(service ?? notFound('service')) };
  },
});

export const boxServices = operation({
  name: 'list_box_services',
  title: 'List all services',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Lists the services of all organizations. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({ services: z.array(ShownService) }),
  run: async ({ store }) => ({ services: (await store.read(allServices, undefined)).map(shownService) }),
});
