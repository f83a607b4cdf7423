import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about signing in, and pages behind links in emails. */
export const entrance = {
  'sign-in.title': 'Iniciar sesión',
  'sign-in.done-password': 'Contraseña cambiada. Inicie sesión con ella.',
  'sign-in.done-out': 'Ha cerrado la sesión.',
  'sign-in.done-step': 'El inicio de sesión caducó, o hubo demasiados códigos incorrectos. Empiece de nuevo.',
  'sign-in.forgot': '¿Olvidó su contraseña?',
  'sign-in.no-account': '¿No tiene cuenta? Pida una invitación a su administrador, o abra un enlace para reclamar.',
  'sign-in.wrong': 'Dirección o contraseña incorrecta.',
  'sign-in.link': 'Este enlace inicia sesión en este navegador una vez.',
  'sign-in.not': 'Sesión no iniciada',

  'step.title': 'Segundo paso',
  'step.as': 'Inicio de sesión como {address}.',
  'step.code': 'Código',
  'step.code-hint': '6 dígitos de su aplicación de autenticación, o un código de recuperación.',
  'step.fresh-hint':
    'De su aplicación de autenticación, o un código de recuperación. Lo reemplaza un inicio de sesión con llave de acceso en los últimos 15 minutos.',
  'step.wrong-code': 'Código incorrecto o ya usado. Espere al siguiente.',
  'step.passkey': 'Usar una llave de acceso',
  'step.lost':
    '¿Perdió su dispositivo? Use un código de recuperación. Si no tiene ninguno, pida al operador de {host} que restablezca su segundo factor.',
  'step.other-account': 'Iniciar sesión con otra cuenta',

  'provider.sign-in': 'Iniciar sesión con {provider}',
  'provider.unreachable': 'No se puede contactar con {provider} ahora. Inténtelo de nuevo o use su contraseña.',
  'provider.expired':
    'El inicio de sesión no empezó en este navegador, ya se usó, o tardó más de 10 minutos. Empiece de nuevo.',
  'provider.denied': '{provider} no inició su sesión ({why}).',
  'provider.bad-answer':
    'No se aceptó la respuesta de {provider}; el motivo quedó registrado. Empiece de nuevo o use su contraseña.',
  'provider.unknown':
    'Nadie aquí tiene su dirección, o el proveedor no la ha verificado. Pida una invitación a su administrador.',
  'provider.unverified':
    'Su dirección no está verificada aquí. Inicie sesión una vez con su contraseña y envíe un enlace de verificación desde «Su cuenta».',
  'provider.other-subject':
    'Su dirección está vinculada a otra cuenta del proveedor. Inicie sesión con su contraseña y desvincúlela en «Seguridad de acceso».',

  'passkey.sign-in': 'Iniciar sesión con una llave de acceso',
  'passkey.browser-asks': 'Su navegador pide la llave de acceso que registró en este sitio.',
  'passkey.use': 'Usar llave de acceso',
  'passkey.password-instead': 'Iniciar sesión con su contraseña',
  'passkey.browser-failed':
    'El navegador no usó ninguna llave de acceso ({why}). Inténtelo de nuevo o inicie sesión de otra forma.',
  'passkey.needs-scripts': 'Las llaves de acceso necesitan JavaScript en este navegador.',
  'passkey.needs-name': 'Las llaves de acceso necesitan un nombre de host',
  'passkey.no-name':
    'Los navegadores guardan las llaves de acceso por nombre de host, y esta página se abrió por una dirección IP. Ábrala por su nombre.',
  'passkey.refused':
    'La llave de acceso no se conoce aquí, se quitó, o la página estuvo abierta demasiado tiempo. Empiece de nuevo.',

  'reset.title': 'Restablecer contraseña',
  'reset.about':
    'Escriba la dirección con la que inicia sesión. Recibirá un enlace para establecer una contraseña nueva.',
  'reset.send': 'Enviar enlace',
  'reset.back': 'Volver al inicio de sesión',
  'reset.sent': 'Revise su correo',
  'reset.sent-text': 'Si existe una cuenta con esta dirección verificada, se envió un enlace. Caduca en 1 hora.',
  'reset.signs-out': 'Esto cierra su sesión en todos los demás lugares.',

  'invite.title': 'Unirse a {organization}',
  'invite.as-owner': 'Se le invita a la organización {organization} en {host}, como propietario.',
  'invite.as-admin': 'Se le invita a la organización {organization} en {host}, como administrador.',
  'invite.as-member': 'Se le invita a la organización {organization} en {host}, como miembro con buzones propios.',
  'invite.join': 'Unirse a la organización',
  'invite.name': 'Su nombre',
  'invite.bad-name': {
    one: 'Use una línea de como máximo {count} carácter.',
    other: 'Use una línea de como máximo {count} caracteres.',
  },

  'claim.title': 'Reclamar {organization}',
  'claim.submit': 'Reclamar organización',
  'claim.verify-title': 'Verificar su dirección',
  'claim.verify': 'Verificar dirección',
  'claim.afterwards':
    'Después verá su registro de auditoría y podrá revocar el acceso de quien la creó. No se cobra nada.',
  'claim.already':
    'La organización ya está reclamada. Este enlace verifica que usted recibe correo en {address}: después podrá restablecer su contraseña por correo.',
  'claim.operator': 'Esta organización opera el servidor de correo {host}. Al reclamarla, usted será el operador.',
  'claim.created': 'Esta organización se creó en {host}, quizá por su agente, con {address} como propietario.',
  'claim.signed-in-as': 'Ha iniciado sesión como {address}.',
  'claim.has-account': 'Existe una cuenta con esta dirección. Inicie sesión con su contraseña.',
  'claim.forgot': '¿Olvidó la contraseña?',
  'claim.your-address': 'Su dirección de correo',
  'claim.address-hint': 'Con esta dirección iniciará sesión.',

  'proof.about': 'Esto confirma que usted recibe correo en {address}.',
  'proof.sign-in': 'Inicie sesión primero',
  'proof.sign-in-text': 'Inicie sesión en este navegador y vuelva a abrir el enlace del correo. Sigue siendo válido.',
  'proof.wrong-account': 'Cuenta equivocada',
  'proof.wrong-account-text':
    'El enlace pertenece a otra cuenta. Inicie sesión con esa cuenta. El enlace sigue siendo válido.',

  'forward.confirm': 'Confirmar reenvío',
  'forward.about': 'La organización {organization} quiere reenviar todo el correo de {source} a {destination}.',
  'forward.decline': 'Para rechazarlo, cierre esta página. Sin confirmación no se reenvía nada.',
  'forward.done': 'Reenvío confirmado',
  'forward.done-text': 'El correo de {source} ahora se reenvía a {destination}.',
  'forward.missing': 'El enlace está incompleto, lo reemplazó uno más nuevo, o se quitó el reenvío.',
  'forward.used': 'El reenvío ya está confirmado. Para detenerlo, contacte con la organización que lo configuró.',
  'forward.expired': 'El enlace caducó. La organización puede enviar uno nuevo.',
  'forward.frozen': 'El operador de este servidor de correo ha bloqueado la organización. No se reenvía nada.',

  'unsubscribe.title': 'Cancelar suscripción',
  'unsubscribe.button': 'Cancelar suscripción',
  'unsubscribe.about': '{recipient} dejará de recibir correo de los programas de {organization}.',
  'unsubscribe.done': 'Suscripción cancelada',
  'unsubscribe.done-text':
    'Los programas de {organization} ya no envían a {recipient}. Aún puede llegar correo que ya está en camino.',
  'unsubscribe.undo': 'Volver a suscribirse',
  'unsubscribe.bad-link': 'El enlace está incompleto. Copie la dirección completa del mensaje.',
  'unsubscribe.bad-form': 'Formulario no válido. Vuelva a cargar la página e inténtelo de nuevo.',
  'unsubscribe.flooded': 'Inténtelo de nuevo en {wait}.',

  'device.set-up': 'Configurar {name}',
  'device.title': 'Configurar un dispositivo',
  'device.about': 'Añade el buzón {address} a este dispositivo, con una contraseña propia. El enlace funciona una vez.',
  'device.profile': 'iPhone, iPad o Mac: descargar el perfil',
  'device.settings': 'Otro dispositivo: mostrar la configuración',
  'device.after': 'Después de la descarga: Ajustes, Perfil descargado, Instalar.',
  'device.settings-for': 'Configuración de {name}',
  'device.settings-title': 'Configuración',
  'device.once': 'Se muestra una sola vez y es solo para este dispositivo: escríbala ahora.',
  'device.user-name': 'Nombre de usuario',
  'device.receiving': 'Recepción (IMAP)',
  'device.sending': 'Envío (SMTP)',
  'device.server': '{host}, puerto {port}, {tls}',
  'device.bad-link': 'El enlace ya se usó, caducó o está incompleto. Cree otro en la página del buzón.',
  'device.too-many': 'Demasiadas contraseñas',
  'device.too-many-text':
    'El buzón tiene 50 contraseñas, que es el límite. Revoque una en su página y vuelva a abrir el enlace.',

  'front.title': 'Servidor de correo',
  'front.local': 'Un servidor de correo en este equipo',
  'front.about':
    'Mailstead recibe, guarda, sirve y envía el correo de sus dominios: IMAP y SMTP para programas de correo, HTTP para programas, MCP para agentes.',
  'front.mail': 'Abrir su correo',
  'front.portal': 'Iniciar sesión en el portal',
  'front.endpoint': 'El punto de acceso es {url}. Una llamada crea una organización y un token:',
  'front.claim': 'Su propietario recibe por correo un enlace para reclamarla.',
  'front.operators': 'Para operadores',
  'front.monitoring': '{help} en el servidor. Supervisión: {health}, {readiness}, {metrics}.',
  'front.health': 'estado',
  'front.readiness': 'disponibilidad',
  'front.metrics': 'métricas',

  'billing.title': 'No se requiere ningún pago',
  'billing.text': 'Este servidor de correo no requiere ningún pago, y no se puede añadir un método de pago.',
} satisfies Partial<PortalCatalog>;
