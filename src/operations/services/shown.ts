import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { controlOf } from '../../services/control.ts';
import type { Service } from '../../services/queries.ts';
import { isoOf } from '../../core/schemas.ts';

/** A listed service, without its environment. */
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
