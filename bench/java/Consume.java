// Reads a topic from its start with Kafka's Java consumer and prints the seconds it took.
// It assigns its partitions, so it needs no consumer group on the broker.

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class Consume {
    public static void main(String[] args) {
        String bootstrap = args[0];
        String topic = args[1];
        int partitions = Integer.parseInt(args[2]);
        long count = Long.parseLong(args[3]);
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("max.poll.records", "5000");
        settings.put("enable.auto.commit", "false");
        List<TopicPartition> assigned = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            assigned.add(new TopicPartition(topic, partition));
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.partitionsFor(topic);
            consumer.assign(assigned);
            for (TopicPartition partition : assigned) {
                consumer.seek(partition, 0);
            }
            long began = System.nanoTime();
            long records = 0;
            long bytes = 0;
            while (records < count) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    records++;
                    bytes += record.serializedValueSize();
                }
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            System.out.println(seconds + " " + records + " " + bytes);
        }
    }
}
