import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { controlOf } from '../../services/control.ts';
import type { Service } from '../../services/queries.ts';
import { isoOf } from '../schemas.ts';

/** A service as it is listed; never with its environment. */
export const ShownService = z.object({
  id: z.string(),
  name: z.string(),
  projectId: z.string(),
  revision: z.number(),
  control: z.enum(['none', 'command', 'systemd', 'compose']),
  createdAt: z.string(),
});

export function shownService(service: Service): z.output<typeof ShownService> {
  return {
    id: publicId('service', service.id),
    name: service.name,
    projectId: publicId('project', service.project),
    revision: service.revision,
    control: controlOf(service.control).kind,
    createdAt: isoOf(service.createdAt),
  };
}
