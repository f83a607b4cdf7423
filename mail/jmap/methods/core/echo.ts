import { CORE } from '../../capabilities.ts';
import type { Method } from '../../method.ts';

/** Core/echo: what came goes back. RFC 8620 4. */
export const coreEcho: Method = {
  name: 'Core/echo',
  capability: CORE,
  run: (_call, args) => Promise.resolve(args),
};
