import { type Judged, judgedOf } from '../../store/judged.ts';
import { MAILSTEAD } from '../capabilities.ts';
import type { FurtherProperty } from './further-property.ts';

/** What this server found out about a message: `mailstead:trust` for programs, `mailstead:verdict` with its reasons for people. */
export const JUDGED: readonly FurtherProperty[] = [judged('trust'), judged('verdict')];

function judged(name: keyof Judged): FurtherProperty {
  return {
    name: `mailstead:${name}`,
    capability: MAILSTEAD,
    async read({ desk: { store } }, _account, emails) {
      const known = await store.read(judgedOf, { emails });
      return new Map([...known].map(([email, one]) => [email, one[name]]));
    },
  };
}
