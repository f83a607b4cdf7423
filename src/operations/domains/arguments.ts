import { Id, DomainName } from '../../core/schemas.ts';

/** Arguments that name a domain: `domainId`, or its name. */
export const DomainArguments = {
  domainId: Id('domain').optional(),
  domain: DomainName.optional(),
};
