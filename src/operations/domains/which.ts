import { Id, Line } from '../schemas.ts';

/** How arguments name a domain: `domainId`, or its name. */
export const Which = {
  domainId: Id('domain').optional(),
  domain: Line(1, 253).optional(),
};
