import { randomInt } from 'node:crypto';

const FIRST =
  'amber bold brisk calm clear cold coral crisp dusky early fair fresh gentle gold green happy jolly keen kind light lively lucky mellow mild neat noble olive pale plain proud quick quiet rapid red round royal sandy sharp silent silver smooth snowy soft solid spare stout sunny swift tidy vivid warm wild wise young'.split(
    ' ',
  );
const SECOND =
  'badger beach beaver birch bridge brook canyon cedar cliff cloud crane creek dune eagle falcon fern field finch forest fox garden glade harbor hawk heron hill island lake lark leaf maple marsh meadow moon otter owl panda path pine pond raven reef river robin sparrow spring stone stork summit swan thistle tiger trail valley wave willow wolf wren'.split(
    ' ',
  );
const NUMBERS = 10_000;

/** A local part that is easily read out, and met by nobody who guesses: one of some 33 million. */
export function aliasName(): string {
  const word = (words: readonly string[]): string => words[randomInt(words.length)] ?? '';
  return `${word(FIRST)}-${word(SECOND)}-${String(randomInt(NUMBERS)).padStart(4, '0')}`;
}
