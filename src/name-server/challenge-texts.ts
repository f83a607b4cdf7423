import type { ChallengeAnswers, TxtPublisher } from '../acme/challenge-answers.ts';
import type { FindZone } from './zone.ts';

/** Adds the TXT records of open challenges to the zones of this box's name server. */
export function withChallengeTexts(find: FindZone, answers: ChallengeAnswers): FindZone {
  return async (name) => {
    const zone = await find(name);
    if (zone === undefined || !answers.existsAt(name)) return zone;
    const texts = answers.textsAt(name).map((value) => ({ type: 'TXT' as const, value }));
    return { ...zone, exists: true, records: [...zone.records, ...texts] };
  };
}

/** Publishes TXT records by this box's own name server: in domains that are led here, and below `acme.dkim.HOSTNAME`. */
export function ownZonePublisher(find: FindZone, answers: ChallengeAnswers, keyZone: string): TxtPublisher {
  return {
    async serves(name) {
      const zone = await find(name);
      return zone !== undefined && (zone.apex !== keyZone || name.endsWith(`.acme.${keyZone}`));
    },
    publishTxt: async (name, value) => answers.addText(name, value),
    removeTxt: async (name, value) => answers.removeText(name, value),
  };
}
