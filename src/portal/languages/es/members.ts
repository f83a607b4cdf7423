import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about members and the sign-in policy. */
export const members = {
  'member.invited': 'Invitación enviada. Su enlace caduca en 7 días.',
  'member.removed': 'Miembro quitado.',
  'member.about': 'Miembros de esta organización y sus roles.',
  'member.person': 'Persona',
  'member.pending': 'Pendiente',
  'member.unverified': 'Dirección sin verificar',
  'member.change': 'Cambiar',
  'member.role-of': 'Rol de {address}.',
  'member.mailboxes-hint': 'Se aplica solo a miembros.',
  'member.remove-question':
    '{address} pierde el acceso a esta organización. Las contraseñas que esa persona conoce siguen siendo válidas: cámbielas.',
  'member.invite-title': 'Invitar a una persona',
  'member.invite': 'Enviar invitación',
  'member.invite-hint': 'Un miembro tiene acceso a los buzones asignados; un administrador, a todo.',

  'sign-in-policy.saved': 'Política de inicio de sesión guardada.',
  'sign-in-policy.title': 'Política de inicio de sesión',
  'sign-in-policy.enrolled': {
    one: '{enrolled} de {count} persona tiene un segundo factor.',
    other: '{enrolled} de {count} personas tienen un segundo factor.',
  },
  'sign-in-policy.required-for': 'Segundo factor obligatorio para',
  'sign-in-policy.none': 'Nadie',
  'sign-in-policy.owners': 'Propietarios',
  'sign-in-policy.admins': 'Propietarios y administradores',
  'sign-in-policy.everybody': 'Todos',
  'sign-in-policy.allowed': 'Permitido',
  'sign-in-policy.required': 'Obligatorio, salvo para propietarios',
  'sign-in-policy.hint':
    'Quien no tenga un segundo factor debe configurar uno para continuar. Los tokens no se ven afectados.',
} satisfies Partial<PortalCatalog>;
