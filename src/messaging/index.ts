export { MessagingClient, type MessagingOptions } from './client.js';
