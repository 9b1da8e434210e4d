/** The person's environment: what every started process inherits, and what `npm start` lets win over the demo preset. */
export const environment: Readonly<NodeJS.ProcessEnv> = process.env;
