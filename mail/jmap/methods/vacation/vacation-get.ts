import { vacationOf } from '../../../store/vacation.ts';
import { VACATION } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { answerGet, pick, readGet } from '../../standard-get.ts';
import { formatState } from '../../state.ts';
import { VACATION_PROPERTIES, vacationObject } from '../../vacation/vacation-object.ts';

/** VacationResponse/get. RFC 8621 8.1. */
export const vacationGet: Method = {
  name: 'VacationResponse/get',
  capability: VACATION,
  async run(call, args) {
    const asked = readGet(call, args, (name) => VACATION_PROPERTIES.has(name), {});
    const { vacation, state } = await call.desk.store.read(vacationOf, { account: asked.access.account });
    return answerGet(asked, formatState(state), [pick(vacationObject(vacation), asked.properties)]);
  },
};
