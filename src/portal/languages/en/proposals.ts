/** Messages about proposals of agents. */
export const proposals = {
  'proposal.accepted': 'Proposal accepted and executed.',
  'proposal.failed': 'Proposal accepted, but it failed. See the list below.',
  'proposal.refused': 'Proposal rejected. No changes made.',
  'proposal.about':
    'Changes requested by governed agents that outlast their session: forwards, webhooks, keys, passwords and their own policy. They take effect only when you accept them.',
  'proposal.none': 'No pending proposals',
  'proposal.none-text': 'Changes that need your decision are listed here.',
  'proposal.once': 'Shown only once. The agent cannot see it.',
  'proposal.executed': 'Proposal executed',
  'proposal.secret': 'Secret',
  'proposal.times': '{time}, expires {end}',
  'proposal.accept': 'Accept',
  'proposal.accept-question': 'Executes exactly this change with the permissions of the agent’s token.',
  'proposal.decided': 'Decided proposals',
  'proposal-state.accepted': 'accepted',
  'proposal-state.refused': 'refused',
  'proposal-state.replaced': 'replaced',
  'proposal-state.expired': 'expired',
  'proposal-state.pending': 'pending',
  'proposal.by-progress': '{name}, in progress',
  'proposal.by-failed': '{name}, failed: {outcome}',
} as const;
