import { z } from 'zod';
import { rowId } from '../../ids.ts';
import { setControl } from '../../services/commands.ts';
import { allServices, serviceById } from '../../services/queries.ts';
import { operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { ShownService, shownService } from '../services/shown.ts';

/** What may be stored as a control: `Control` of src/services/control.ts. */
const Control = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('command'),
    /** Program and arguments; no shell reads them. */
    command: z.array(z.string().min(1).max(4_000)).min(1).max(100),
  }),
  z.strictObject({
    kind: z.literal('systemd'),
    unit: z.string().regex(/^[\w@.:-]{1,200}\.service$/, 'a unit looks like shop.service'),
  }),
  z.strictObject({
    kind: z.literal('compose'),
    file: z.string().min(1).max(1_000).startsWith('/', 'the compose file needs its whole path'),
    service: z.string().regex(/^[\w][\w.-]{0,100}$/, 'this is no name of a compose service'),
  }),
]);

export const setServiceControl = operation({
  name: 'set_service_control',
  title: 'How a service is run',
  toolset: 'deploy',
  reach: 'organization',
  action: 'deploy',
  socketOnly: true,
  description:
    'Sets what deploy, restart and rollback of a service do on this machine: nothing, a supervised command, a systemd unit or a compose service.',
  hints: { idempotent: true },
  input: z.strictObject({ serviceId: Id('service'), control: Control }),
  output: z.object({ service: ShownService }),
  async run(call, { serviceId, control }) {
    const id = rowId('service', serviceId) ?? notFound('service');
    const input = { id, control: JSON.stringify(control) };
    const done = await call.change(setControl, input, serviceId, { kind: control.kind });
    const service = done.kind === 'missing' ? undefined : await call.store.read(serviceById, { id });
    return { service: shownService(service ?? notFound('service')) };
  },
});

export const boxServices = operation({
  name: 'list_box_services',
  title: 'All services',
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
