package scene

// SemaphoreWord stands before a semaphore's numbers.
const SemaphoreWord = "semaphore "
