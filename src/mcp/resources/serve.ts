import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../operations/caller.ts';
import type { World } from '../../operations/world.ts';

const reading = () => import('./read.ts');
const prompting = () => import('./prompts.ts');
const completing = () => import('./complete.ts');

/** Resources, prompts and completion for one caller. What they need is loaded when somebody asks for it. */
export function serveResources(world: World, server: Server, caller: Caller): void {
  server.setRequestHandler('resources/list', async () => (await (await reading()).listResources(caller)) as never);
  server.setRequestHandler(
    'resources/templates/list',
    async () => (await (await reading()).listTemplates(caller)) as never,
  );
  server.setRequestHandler(
    'resources/read',
    async ({ params }) => (await (await reading()).readResource(world, caller, params.uri)) as never,
  );
  server.setRequestHandler('prompts/list', async () => (await prompting()).listPrompts() as never);
  server.setRequestHandler(
    'prompts/get',
    async ({ params }) => (await prompting()).getPrompt(params.name, params.arguments ?? {}) as never,
  );
  server.setRequestHandler(
    'completion/complete',
    async ({ params: { argument } }) =>
      (await (await completing()).complete(world, caller, argument.name, argument.value)) as never,
  );
}
