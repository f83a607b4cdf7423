import type { Method } from '../../method.ts';
import { vacationGet } from './vacation-get.ts';
import { vacationSet } from './vacation-set.ts';

export const VACATION_METHODS: readonly Method[] = [vacationGet, vacationSet];
