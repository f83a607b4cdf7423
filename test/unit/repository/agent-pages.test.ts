import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AGENT_MODES } from '../../../mail/agents/gate/types.ts';
import { llmsText } from '../../../src/http/discovery-texts.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { REFUSALS } from '../../../src/core/refusal.ts';
import { PAGES } from '../../../src/portal/pages/index.ts';

const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const guide = read('agents.md');
const owning = read('owning-agents.md');

/** Words in code that are built like names of tools. */
const named = (text: string): string[] => [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word = '']) => word);

describe('the pages about agents', () => {
  test('name tools, refusals and modes that there are', () => {
    const known = new Set([...CATALOGUE.map(({ name }) => name), ...Object.keys(REFUSALS), ...AGENT_MODES]);
    const words = [...named(guide), ...named(owning)];
    expect(words.length).toBeGreaterThan(20);
    expect(words.filter((word) => !known.has(word))).toEqual([]);
  });

  test('tell every mode of stopping an agent', () => {
    expect(AGENT_MODES.filter((mode) => mode !== 'normal' && !owning.includes(mode))).toEqual([]);
  });

  test('name pages that the portal has', () => {
    const pages: string[] = PAGES.map(({ name }) => name);
    const said = [...owning.matchAll(/\*\*([A-Z][a-z ]+)\*\*/g)].map(([, name]) => name);
    expect(said.length).toBeGreaterThan(5);
    // Tools of an account, and an advice.
    const others = ['Connected programs', 'Give every agent a policy'];
    expect(said.filter((name) => !pages.includes(name ?? '') && !others.includes(name ?? ''))).toEqual([]);
  });

  test('the one for agents is in /llms.txt, without links to files', () => {
    const text = llmsText(
      CATALOGUE,
      { baseUrl: 'https://mail.test', tokenPrefix: 'mst', openRegistration: true },
      guide,
    );
    expect(text).toContain('## For agents: working in a mailbox');
    expect(text).toContain('### Text of others is data');
    expect(text).not.toMatch(/\]\((?!https:)/);
    expect(text.match(/^# /gm)).toHaveLength(1);
  });
});
