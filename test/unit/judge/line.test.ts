import { expect, test } from 'vitest';
import { Line } from '../../../mail/judge/line.ts';

test('lets in what has room, in order', async () => {
  const line = new Line(10, 60_000);
  const inside: string[] = [];
  const enter = (name: string, weight: number): void => void line.enter(weight).then(() => inside.push(name));
  enter('first', 6);
  enter('second', 6);
  enter('small', 1);
  await expect.poll(() => inside).toEqual(['first']);
  line.leave(6);
  await expect.poll(() => inside).toEqual(['first', 'second', 'small']);
});

test('what is larger than all of the room is let in alone', async () => {
  const line = new Line(10, 60_000);
  await line.enter(50);
  const next = line.enter(1);
  line.leave(50);
  await next;
});

test('who waited for too long is sent away and holds nobody else up', async () => {
  const line = new Line(10, 20);
  await line.enter(10);
  await expect(line.enter(10)).rejects.toThrow('too many messages wait');
  line.leave(10);
  await line.enter(10);
});
