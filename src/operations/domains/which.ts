import { z } from 'zod';

/** How arguments name a domain: `domainId`, or its name. */
export const Which = {
  domainId: z.string().max(40).optional(),
  domain: z.string().max(253).optional(),
};
